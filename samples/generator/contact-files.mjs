import { E164_MOSTLY, EVERY_WRITING } from './numbers.mjs';

const CONTACT = {
  customer_id: 'customer_id',
  first_name: 'first_name',
  last_name: 'last_name',
  country: 'country',
  mobile: 'mobile',
  email: 'email',
  city: 'city',
  tier: 'tier',
};

/** Files of contacts, in the order of their names; what the keys mean stands in steps.mjs. */
export const CONTACT_FILES = [
  {
    path: 'contacts/01-shop.csv',
    rows: 260,
    countries: ['SG', 'SG', 'MY', 'PH', 'GB'],
    styles: EVERY_WRITING,
    columns: CONTACT,
    encoding: 'utf-8-bom',
    lineEnds: ['\r\n'],
    faults: {
      'no-address': 1,
      'bad-email': 2,
      'too-long-name': 1,
      'too-few-fields': 1,
      'scientific-number': 1,
      'unused-range': 1,
    },
  },
  {
    path: 'contacts/02-events.csv.gz',
    rows: 150,
    countries: ['ID', 'TH', 'VN', 'AU'],
    styles: EVERY_WRITING,
    columns: {
      Mobile: 'mobile',
      'E-Mail': 'email',
      'First Name': 'first_name',
      'Last Name': 'last_name',
      Country: 'country',
      City: 'city',
      Tier: 'tier',
      'Customer ID': 'customer_id',
      Note: 'note',
    },
    delimiter: ';',
    faults: { 'too-long-id': 1, 'too-many-fields': 1, 'bad-email': 1, 'no-number': 1, 'unknown-country': 1 },
  },
  {
    path: 'contacts/03-app.ndjson',
    rows: 140,
    countries: ['IN', 'US', 'IT'],
    styles: E164_MOSTLY,
    columns: CONTACT,
    faults: { 'bad-json': 1, 'not-an-object': 1, 'duplicate-keys': 1, 'no-address': 1, apostrophe: 1 },
  },
];

/** Contacts of the old CRM. */
export const CRM_CONTACT_FILES = [
  {
    path: 'contacts-crm.csv',
    rows: 110,
    countries: ['DE', 'DE', 'FR'],
    styles: EVERY_WRITING,
    columns: {
      Kundennummer: 'customer_id',
      Vorname: 'first_name',
      Nachname: 'last_name',
      Land: 'country',
      Mobil: 'mobile',
      'E-Mail': 'email',
      Ort: 'city',
      Stufe: 'tier',
    },
    delimiter: ';',
    encoding: 'windows-1252',
    lineEnds: ['\r\n'],
    faults: { 'too-short-number': 1, 'bad-email': 1, 'no-address': 1 },
  },
];
