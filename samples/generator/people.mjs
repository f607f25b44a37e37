/** Invented people: first names, family names, cities and offers by country. None is anybody. */
const PEOPLE = {
  AU: [
    ['Mia', 'Jack', 'Chloe', 'Noah'],
    ['Wilson', 'O’Brien', 'Taylor'],
    ['Perth', 'Hobart'],
    ['20% off', '$15 off'],
  ],
  CI: [
    ['Awa', 'Kouassi', 'Aya', 'Yao'],
    ['Koné', 'Touré', 'Kouamé'],
    ['Abidjan', 'Bouaké'],
    ['-20 %', '2 000 F offerts'],
  ],
  DE: [
    ['Jürgen', 'Käthe', 'Björn', 'Sören', 'Anna'],
    ['Müller', 'Weiß', 'Schröder'],
    ['Köln', 'Lübeck', 'Jena'],
    ['10 € Rabatt', '20 % Rabatt', '„Frühling“ 2 für 1'],
  ],
  FR: [
    ['Zoé', 'Léa', 'François', 'Hélène'],
    ['Lefèvre', 'Garçon', 'Petit'],
    ['Orléans', 'Nîmes'],
    ['10 € offerts', '-20 %'],
  ],
  GB: [
    ['Oliver', 'Amelia', 'Zoë', 'Rhys'],
    ['Smith', 'Lloyd-Jones', 'Patel'],
    ['Leeds', 'Bath', 'Newcastle, Tyne and Wear'],
    ['£10 off', '20% off'],
  ],
  ID: [
    ['Budi', 'Siti', 'Agus', 'Dewi', 'Putri'],
    ['Santoso', 'Wijaya', 'Lestari'],
    ['Bandung', 'Medan'],
    ['diskon 20%', 'potongan Rp50.000'],
  ],
  IN: [
    ['Asha', 'Ravi', 'Priya', 'आशा'],
    ['Sharma', 'Nair', 'Das'],
    ['Pune', 'Kochi'],
    ['₹200 off', '20% off'],
  ],
  IT: [
    ['Niccolò', 'Giulia', 'Matteo', 'Desirée'],
    ['Rossi', 'D’Angelo', 'Conti'],
    ['Forlì', 'Bari'],
    ['10 € di sconto', 'sconto 20%'],
  ],
  MY: [
    ['Aiman', 'Nurul', 'Mei Ling', 'Arjun'],
    ['binti Ahmad', 'Tan', 'a/l Kumar'],
    ['Ipoh', 'Kuala Lumpur, WP'],
    ['RM20 off', 'diskaun 20%'],
  ],
  PH: [
    ['Maria', 'Jose', 'Niño', 'Liza'],
    ['Santos', 'Dela Cruz', 'Reyes'],
    ['Cebu', 'Davao'],
    ['₱200 off', '20% off'],
  ],
  SG: [
    ['Wei Jie', 'Hui Min', 'Siti', 'Arun', 'Robert "Bob"', '陈美'],
    ['Tan', 'Lim', 'bin Osman', 'Pillai'],
    ['Singapore'],
    ['$10 off', '20% off', '20% off 🎉', 'Mother’s Day 2-for-1'],
  ],
  TH: [
    ['Somchai', 'สมหญิง', 'Malee', 'นิดา'],
    ['Jaidee', 'ใจดี', 'Sukjai'],
    ['Chiang Mai', 'กรุงเทพฯ'],
    ['ส่วนลด 20%', '20% off', '฿200 off'],
  ],
  US: [
    ['Emma', 'Liam', 'Ava', 'Noah'],
    ['Johnson', 'Garcia', 'Lee'],
    ['Austin, TX', 'Boston, MA'],
    ['$10 off', '20% off', 'BOGO {today only}'],
  ],
  VN: [
    ['Nguyễn', 'Hương', 'Đức', 'Lan'],
    ['Trần', 'Lê', 'Phạm'],
    ['Hà Nội', 'Huế'],
    ['giảm 20%', 'giảm 50.000₫'],
  ],
};

/** What people leave in free columns: text over several lines, quotes, and cells that a spreadsheet would run. */
const NOTES = [
  'prefers e-mail',
  'moved in May;\nnew flat 03-12',
  'said "call me later"',
  'VIP, since 2019',
  '=HYPERLINK("https://shop.example","click")',
  '@reception',
  '+1 for dinner',
  'tab\there',
];

const VOUCHER_LETTERS = 'ACDEFGHJKLMNPQRTUVWXY3479';

/**
 * A person without a number yet; every value is text, as in a file.
 *
 * @param {import('./random.mjs').Random} random
 * @param {string} country
 */
export function createPerson(random, country) {
  const [firstNames, lastNames, cities, offers] = PEOPLE[country];
  const voucher = Array.from({ length: 8 }, () => random.pick([...VOUCHER_LETTERS])).join('');
  return {
    country,
    first_name: random.chance(0.05) ? '' : random.pick(firstNames),
    last_name: random.pick(lastNames),
    city: random.pick(cities),
    voucher,
    offer: random.pick(offers),
    member_since: String(2012 + random.int(14)),
    note: random.chance(0.15) ? random.pick(NOTES) : '',
    customer_id: `C-${random.digits(7)}`,
    email: '',
    tier: random.pick(['basic', 'silver', 'gold']),
  };
}

/** An address in a domain that can never exist; digits keep it unique. */
export function createEmail(random, mark) {
  return `${random.pick(['hello', 'shop', 'family', 'post'])}.${mark.toLowerCase()}@mail.example`;
}
