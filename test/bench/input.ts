import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createRandom } from '../../src/sandbox/random.js';

const FIRST_NAMES = [
  'Ann',
  'Ben',
  'Chloé',
  'Dmitri',
  'Eve',
  'Farid',
  'Grace',
  'Hui Min',
  'Ines',
  'João',
  'Kenji',
  'Lea',
];
const CITIES = ['Singapore', 'Berlin', 'Wien', 'London', 'New York', 'São Paulo', 'Paris', 'Mumbai'];
const OFFERS = ['20 % off', 'two for one', 'free shipping'];
const QUOTED_OFFER = '"the ""Best of spring"", 10 % off"';
/** How a number is written, `#` a digit. */
const WRITINGS: readonly string[] = [
  '+659#######',
  '9#######',
  '+65 8### ####',
  '8### ####',
  '+4915112######',
  '+44 7400 ######',
  '+1 212 55# ####',
];
const BAD = ['n/a', '12345', '+65 1234', '9#####', '6.59E+09', ''];

/**
 * Recipients as a shop exports them, 55 bytes a row: 16 % of rows are quoted, numbers stand in national and international
 * writing (country SG), 4 % of them are none. They are the same on every machine.
 */
export async function writeRecipients(path: string, rows: number): Promise<void> {
  const chance = createRandom(1);
  const pick = (values: readonly string[]) => values[Math.floor(chance() * values.length)] ?? '';
  const digits = (writing: string) => writing.replace(/#/g, () => String(Math.floor(chance() * 10)));
  const file = createWriteStream(path);
  let text = 'customer_id,first_name,mobile,city,offer\n';
  for (let row = 1; row <= rows; row += 1) {
    const number = digits(chance() < 0.01 ? pick(BAD) : pick(WRITINGS));
    const offer = chance() < 0.16 ? QUOTED_OFFER : pick(OFFERS);
    text += `C${1_000_000 + row},${pick(FIRST_NAMES)},${number},${pick(CITIES)},${offer}\n`;
    if (text.length < 1 << 20) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end(text);
  await once(file, 'close');
}
