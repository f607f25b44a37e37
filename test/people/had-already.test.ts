import { expect, test } from 'vitest';
import { createHadLookup, type KnownPeople } from '../../src/people/open-people.js';
import { PeopleTable } from '../../src/people/people-table.js';

type PeopleRun = KnownPeople['runs'][number];

const DAY_MS = 86_400_000;
const NUMBER = 6_591_000_001;
const TEXT = 7;

function aRun(changes: Partial<PeopleRun>): PeopleRun {
  const head = {
    format: 1,
    plan: 'p',
    begun: 'b',
    directory: '/out/sale/p',
    job: 'sale',
    account: '',
    group: '',
  } as const;
  return { ...head, sentAt: 0, isOver: true, records: 1, state: 'accepted', ...changes };
}

function findAfter(days: number, run: PeopleRun, place = 0) {
  const table = new PeopleTable(1);
  table.add(NUMBER, TEXT, place);
  const runs = [...Array.from({ length: place }, () => aRun({ plan: 'another', state: 'to-send' })), run];
  const known = { table, runs, counts: 'none', retried: undefined, texts: undefined } as const;
  const plan = { id: 'own', job: { name: 'other' } };
  const rules = { sameText: 'hold', sameTextWithin: 14 * DAY_MS, frequency: undefined, plan } as const;
  return createHadLookup(known, rules, days * DAY_MS).find(NUMBER, () => TEXT)?.reason;
}

test('what an unfinished run has sent counts for a time, and what it has yet to send for as long as it may', () => {
  const unfinished = aRun({ isOver: false });
  expect(findAfter(13, unfinished)).toMatch(/had exactly this text from run p of job sale, on 1 January 1970$/);
  expect(findAfter(15, unfinished)).toBeUndefined();
  expect(findAfter(15, aRun({ isOver: false, state: 'in-doubt' }))).toBeUndefined();
  expect(findAfter(15, aRun({ isOver: false, state: 'to-send' }))).toMatch(/or will have it: it is not finished$/);
});

test('of more runs than 16 bits can count the right one is named', () => {
  expect(findAfter(1, aRun({ plan: 'last' }), 70_000)).toContain('from run last of job sale');
});
