import { beforeAll, describe, expect, test } from 'vitest';
import { expectSaid, openAConsole, textOf } from './a-console.js';

const TIMEOUT_MS = 120_000;
const MOBILES = ['91234567', '91234568', '91234569', '+995555123456'];
const PEOPLE = `name,mobile\n${MOBILES.map((mobile, at) => `P${at},${mobile}`).join('\n')}\n`;

describe('the columns of a campaign, and the people of its files', { timeout: TIMEOUT_MS }, () => {
  const console = openAConsole();

  beforeAll(async () => {
    await console.post('/new', { name: 'sale' });
    await console.post('/c/sale/file', { path: console.write('people.csv', PEOPLE) });
  }, TIMEOUT_MS);

  test('numbers are counted again with another country, and nothing is saved by it', async () => {
    const choice = { destination: 'mobile', country: 'Singapore' };
    const before = console.files('sale').includes('job.yaml') ? console.jobOf('sale') : undefined;
    const counted = await console.post('/c/sale/columns', { ...choice, count: '1' });
    const said = 'mobile has a valid number in 4 of 4 rows, those without + as numbers of Singapore';
    expectSaid(counted, 200, said);
    expect(counted.text).toContain('value="Singapore"');
    expect(await console.count('/c/sale/columns', choice)).toContain(said);
    const other = await console.post('/c/sale/columns', { ...choice, country: 'GE', count: '1' });
    expect(textOf(other)).toContain('in 1 of 4 rows, those without + as numbers of Georgia');
    expect(textOf(other)).toContain('volley init people.csv --destination mobile --country GE');
    expect(console.files('sale').includes('job.yaml') ? console.jobOf('sale') : undefined).toBe(before);
  });

  test('a column that says the country of each number is named', async () => {
    await console.post('/new', { name: 'lands' });
    const people = MOBILES.map((mobile) => `${mobile},${mobile.startsWith('+') ? '' : 'SG'}`).join('\n');
    await console.post('/c/lands/file', { path: console.write('lands.csv', `mobile,Country\n${people}\n`) });
    const said = 'mobile has a valid number in 4 of 4 rows, those without + of the country in Country';
    const counted = await console.post('/c/lands/columns', { destination: 'mobile', country: '', count: '1' });
    expectSaid(counted, 200, `${said}.`);
    const both = await console.post('/c/lands/columns', { destination: 'mobile', country: 'MY', count: '1' });
    expect(textOf(both)).toContain(`${said}, else as numbers of Malaysia`);
  });

  test('a country in which most numbers fail is asked about, and saved once a person says so', async () => {
    const choice = { destination: 'mobile', country: 'Georgia' };
    const doubt = 'Only 1 of 4 numbers is valid in Georgia. Is the country right?';
    const asked = await console.post('/c/sale/columns', choice);
    expectSaid(asked, 422, doubt);
    expect(asked.text).toContain(`name="sure" value="${doubt}"`);
    const bare = await console.post('/c/sale/columns', { ...choice, country: '', sure: doubt });
    expect(textOf(bare)).toContain('Only 1 of 4 numbers is valid as they stand. Which country are those without + of?');
    const unknown = await console.post('/c/sale/columns', { ...choice, country: 'Narnia' });
    expect(textOf(unknown)).toContain('"Narnia" is not a country');
    expect((await console.post('/c/sale/columns', { ...choice, sure: doubt })).to).toBe('/c/sale/message');
    expect(console.jobOf('sale')).toContain('country: GE');
    expect((await console.post('/c/sale/columns', { ...choice, country: 'Singapore' })).to).toBe('/c/sale/message');
    expect(console.jobOf('sale')).toContain('country: SG');
  });

  test('where most numbers lost their +, that is said in the place of a doubt about the country', async () => {
    await console.aCampaign('german', 'name,mobile\nA,436641234567\nB,436641234568\nC,+4915112345670\n');
    const asked = await console.post('/c/german/columns', { destination: 'mobile', country: 'DE' });
    expect(textOf(asked)).toContain(
      'Only 1 of 3 numbers is valid in Germany: 2 lost their +. Once they are checked, it can be put back in all of them.',
    );
  });

  test('the country that a person gave holds for the next file, and can be taken back', async () => {
    const next = console.write('next.csv', PEOPLE.replace('P0', 'Peter'));
    expect((await console.post('/c/sale/file', { path: next })).to).toBe('/c/sale/columns');
    const page = await console.ask('/c/sale/columns');
    expect(page.text).toContain('value="SG"');
    expect(textOf(page)).toContain('mobile has a valid number in 4 of 4 rows');
    expect(console.jobOf('sale')).toContain('country: SG');
    const doubt = 'Only 1 of 4 numbers is valid as they stand. Which country are those without + of?';
    await console.post('/c/sale/columns', { destination: 'mobile', country: '', sure: doubt });
    expect(console.jobOf('sale')).not.toMatch(/^ *country:/m);
    await console.post('/c/sale/columns', { destination: 'mobile', country: 'SG' });
  });

  test('a person is looked up by the number that stands in a file; one that may be of two countries is asked for again', async () => {
    const look = async (number: string) => textOf(await console.post('/people', { number }));
    expect((await console.ask('/people')).text).toMatch(/such as \+65\d{8}\./);
    expect(await look('9123 4567')).toMatch(
      /Nothing was sent to \+6591234567, as far as is known\. .* not on the list of opt-outs\. Your other lists, and consent in your files, are looked at when/,
    );
    expect(await look('Anna Smith')).toContain('This is no phone number: Anna Smith With + and its country code');
    await console.aCampaign('tbilisi', 'name,mobile\nNino,555123456\nGio,555123457\n', 'Georgia');
    expect(await look('555 12 34 56')).toContain('Nothing was sent to +995555123456');
    expect(await look('1234')).toMatch(
      /There is a problem .*With \+ and its country code it is clear, such as \+\d+\./,
    );
    await console.aCampaign('hk', 'name,mobile\nNg,91234567\nLee,91234568\n', 'Hong Kong');
    expect(await look('91234567')).toMatch(/This may be \+\d+91234567 or \+\d+91234567/);
  });

  test('a file in which no column looks like one of numbers leads to the choice of one, and an empty file to another file', async () => {
    await console.post('/new', { name: 'other' });
    const choose = (name: string, text: string) =>
      console.post('/c/other/file', { path: console.write(`${name}.csv`, text) });
    const empty = await choose('empty', 'name,mobile\n');
    expect([empty.status, textOf(empty)]).toEqual([422, expect.stringMatching(/holds no row .* The file of people/)]);
    for (const text of ['sku,price\nA1,10\n', 'name,email\nA,a@example.com\n']) {
      expect((await choose('none', text)).to).toBe('/c/other/columns');
      expect(await console.textAt('/c/other/columns')).toContain('No column looks like one of phone numbers.');
      expect(console.files('other')).not.toContain('job.yaml');
    }
    const asked = await console.post('/c/other/columns', { destination: 'name', country: '' });
    expect(textOf(asked)).toContain('None of 1 number is valid as they stand. Which country are those without + of?');
  });

  test.each(['broken.csv', 'campaigns/sale/files/../../../broken.csv'])(
    'what is named by a path stays where it is, readable or not: %s',
    async (path) => {
      console.write('broken.csv', 'mobile\0');
      expectSaid(await console.post('/c/sale/file', { path: `${console.directory}/${path}` }), 422, 'expected text');
      expect(console.read('broken.csv')).toBe('mobile\0');
    },
  );

  test('each step of a campaign says which one it is, and leads back to the one before', async () => {
    const stepOf = async (page: string) =>
      /<nav class="steps".*?href="(.*?)".*?<\/a> (.*?)<\/nav>/
        .exec((await console.ask(`/c/sale/${page}`)).text)
        ?.slice(1);
    expect(await stepOf('file')).toEqual(['/c/sale', 'Step 1 of 6: File']);
    expect(await stepOf('columns')).toEqual(['/c/sale/file', 'Step 2 of 6: Columns']);
    expect(await stepOf('check')).toEqual(['/c/sale/when', 'Step 6 of 6: Check']);
    expect(await stepOf('test')).toBeUndefined();
  });

  test('a text that no one wrote is not tested', async () => {
    const refused = await console.post('/c/sale/test', { to: '+6591234567', last: '' });
    const said = 'The message is not written yet Write it, and whom it is from, on its page Message.';
    expectSaid(refused, 422, said);
  });

  test('the page of the message says how many of the first rows lack what the text shows', async () => {
    await console.aCampaign('some', 'name,mobile,first name\nAnna,+6591234501,A\n,+6591234502, \nCy,+6591234503,C\n');
    const messageOf = async (message: string) => {
      await console.save('/c/some/message', { sender: 'LADEN', message });
      return (await console.textAt('/c/some/message')).replace(/In the terminal.*/, '');
    };
    const said = await messageOf('Hi {{ name }} {{ first_name }}');
    expect(said).toContain(
      "1 of the first 3 rows has nothing for {{ name }}. Such rows get no message, unless the text has other words for them: {{ name | default: 'there' }}",
    );
    expect(said).toContain('has nothing for {{ first_name }}.');
    expect(await messageOf("Hi {{ name | default: 'there' }}")).not.toContain('nothing for');
  });

  test('a fault of the text is said in the words of the page', async () => {
    const write = async (message: string) => console.save('/c/sale/message', { sender: 'LADEN', message });
    await write('Hello '.repeat(334));
    const long = (await console.textAt('/c/sale/message')).replace(/In the terminal.*/, '');
    expect(long).toContain('There is a problem Cannot send the message: its text needs 14 parts');
    expect(long).not.toMatch(/template|volley/);
    await write('Hi {{ name');
    for (const page of ['message', 'check']) {
      if (page === 'check') await console.check('sale');
      const text = (await console.textAt(`/c/sale/${page}`)).replace(/In the terminal.*/, '');
      expect(text).toContain('Cannot read the message at line 1');
      expect(text).not.toMatch(/template|job\.yaml/);
    }
  });
});
