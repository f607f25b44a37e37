import type { Cell } from '../domain/row.js';
import { foldName } from '../domain/text.js';
import { findColumn } from '../normalize/columns.js';

/** The first rows of a file, as its reader gives them. */
export interface SampledFile {
  /** As the job will write it. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** What separates its fields, of a CSV. */
  readonly delimiter?: string | undefined;
}

/** The first rows of all files, in the columns that every file has; names are those of the first file. */
export interface SampledRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns of the files that are not in all of them. */
  readonly notInAll: readonly string[];
}

/** Joins files by the names of their columns. A column without a name cannot be used in a job. */
export function joinSamples(files: readonly SampledFile[]): SampledRows {
  const [first] = files;
  const named = (first?.columns ?? []).filter((name) => name !== '');
  const columns = named.filter((name) => files.every((file) => findColumn(file.columns, name) !== undefined));
  const rows = files.flatMap((file) => {
    const indexes = columns.map((name) => findColumn(file.columns, name) ?? -1);
    return file.rows.map((cells) => indexes.map((index) => cells[index] ?? ''));
  });
  const all = files.flatMap((file) => file.columns.filter((name) => name !== ''));
  const notInAll = [...new Set(all)].filter((name) => findColumn(columns, name) === undefined);
  return { columns, rows, notInAll };
}

/** The cells of a column that hold anything. */
export function listFilled({ rows }: SampledRows, column: number): string[] {
  return rows.map((cells) => cells[column] ?? '').filter((cell) => cell.trim() !== '');
}

/**
 * What exports call their columns, in the languages that most of them are written in: en de fr es it pt nl pl sv id ms vi
 * th zh ja ko. A word list matches a header that is one of its words; without case, blanks and punctuation.
 */
export type HeaderMeaning = keyof typeof WORDS;

const WORDS = {
  firstName: `first name, firstname, fname, given name, forename, vorname, prénom, prenom, nombre, nombres, primer nombre, nome, nome próprio,
    primeiro nome, voornaam, imię, förnamn, fornavn, etunimi, nama depan, nama pertama, tên, tên gọi, ชื่อ, ชื่อจริง, 名, 名字, 名前, 이름`,
  lastName: `last name, lastname, lname, surname, family name, nachname, familienname, zuname, nom de famille, apellido, apellidos, cognome,
    apelido, sobrenome, último nome, achternaam, familienaam, nazwisko, efternamn, etternavn, nama belakang, nama keluarga, họ, นามสกุล, 姓, 성`,
  fullName: `name, full name, fullname, display name, contact name, customer name, customer, contact, recipient, profile name, saved name, public name, public display name, kunde, kundenname, kontakt,
    ansprechpartner, empfänger, nom, nom complet, client, nombre completo, nombre y apellidos, cliente, nome completo, nome e cognome, naam,
    volledige naam, nazwa, namn, navn, nama, nama lengkap, nama penuh, pelanggan, họ tên, họ và tên, ชื่อ-นามสกุล, ชื่อเต็ม, 姓名, 客户, 客户姓名, 氏名, お名前, 성명`,
  country: `country, country code, country name, country region, land, ländercode, länderkennzeichen, pays, code pays, país, pais, paese, nazione,
    codice paese, landcode, kraj, negara, kod negara, kode negara, quốc gia, nước, ประเทศ, 国家, 国家地区, 国, 国名, 국가, default address country code,
    billing country, shipping country, mailing country, address country, home country`,
  phone: `phone, phone number, mobile, mobile phone, mobile number, mobile phone number, cell, cell phone, cellphone, telephone, tel, telephone number, msisdn,
    sms, sms number, whatsapp, whatsapp number, whatsapp phone, default address phone, home phone, work phone, business phone, other phone, contact number, number, phone 1,
    handy, handynummer, mobil, mobilnummer, mobiltelefon, telefon, telefonnummer, rufnummer, téléphone, téléphone portable, portable, mobile téléphone,
    numéro de téléphone, numéro, teléfono, teléfono móvil, móvil, celular, número, telefono, cellulare, numero di telefono, telefone, telemóvel, telefoon,
    telefoonnummer, mobiel, mobiel nummer, komórka, nomor hp, no hp, hp, nomor telepon, no telepon, telepon, nomor, telefon bimbit, no telefon, nombor telefon,
    điện thoại, số điện thoại, sđt, di động, โทรศัพท์, เบอร์โทร, เบอร์โทรศัพท์, เบอร์มือถือ, มือถือ, 电话, 手机, 手机号, 手机号码, 電話, 電話番号, 携帯,
    携帯電話, 携帯番号, 전화, 전화번호, 휴대폰`,
  email: `email, e-mail, mail, email address, e-mail address, e-mail-adresse, e-mailadresse, emailadresse, email 1 value, e-mail 1 value, adresse e-mail, courriel,
    correo, correo electrónico, indirizzo email, posta elettronica, endereço de email, emel, thư điện tử, อีเมล, 邮箱, 电子邮件, メール, メールアドレス, 이메일`,
  externalId: `id, customer id, contact id, record id, external id, user id, member id, subscriber id, klaviyo id, lead id, account id, customer number,
    kundennummer, kunden-nr, kundennr, numéro client, id cliente, número de cliente, klantnummer, id pelanggan, mã khách hàng, 客户编号, 顧客番号, 会員番号`,
} as const;

/** Parts of a name that say that digits are no number to write to, even if they could be one. */
const NO_NUMBER =
  /\b(fax|id|ids|uuid|guid|zip|post(al)?|postcode|plz|postleitzahl|cap|cep|order|orders|bestellung|sku|total|spent|amount|betrag|price|preis|umsatz|date|datum|fecha|created|updated|year|timestamp|iban|vat|tax|siren|siret|latitude|longitude|kundennummer|rechnung|invoice)\b/;

const meanings = new Map<string, Set<HeaderMeaning>>();
for (const [meaning, words] of Object.entries(WORDS)) {
  for (const word of words.split(',')) {
    const folded = foldName(word);
    meanings.set(folded, (meanings.get(folded) ?? new Set()).add(meaning as HeaderMeaning));
  }
}

/** Whether the name of a column is one of the usual ones for a meaning. */
export function means(column: string, meaning: HeaderMeaning): boolean {
  return meanings.get(foldName(column))?.has(meaning) === true;
}

/** The parts of a name such as `Phone 1 - Value`, `shippingPhone` or `sms_number`, by which a longer one is known. */
const PHONE_PARTS = /\b(phone|mobile|cell|tel|telephone|telefon|telefono|handy|mobil|whatsapp|sms|msisdn|gsm|hp)\b/;

/** Whether a column is named as one of telephone numbers, alone or among other words. */
export function isPhoneName(column: string): boolean {
  return means(column, 'phone') || (PHONE_PARTS.test(spellOut(column)) && !isOtherName(column));
}

/** Whether a column is named as something that only looks like telephone numbers: ids, postcodes, sums, fax. */
export function isOtherName(column: string): boolean {
  return NO_NUMBER.test(spellOut(column));
}

/** Writes a name in words of lower case, without accents: `shippingPhone` is `shipping phone`. */
export function spellOut(column: string): string {
  return column
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Files that name those who must not be written to, as tools and people call them. */
const OPT_OUT_FILE =
  /^(opt[-_ ]?outs?|unsubscribe[ds]?|suppress|abmeld|abgemeldet|do[-_ ]?not[-_ ](call|contact|text)|dnc|blacklist|blocklist)/i;

/** Whether a file is a list of people who must not be written to, by its name. */
export function isOptOutFile(fileName: string): boolean {
  return OPT_OUT_FILE.test(fileName) && /\.(csv|tsv|txt|ndjson|jsonl?|xls[xm])(\.gz)?$/i.test(fileName);
}
