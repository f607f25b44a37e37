import { expect, test } from 'vitest';
import { readPage, readSection, readTables } from '../../pages/page.js';
import { listWorkloads } from './manifest.js';
import { listOverlays, readOverlay } from './read-overlay.js';

const page = readPage('jobs/kubernetes/README.md');

test('the memory that the page names is what the kit asks for and allows, and more than was measured', () => {
  const { requests, limits } = listWorkloads(readOverlay('nightly'))[0]!.container.resources!;
  const [, asked, allowed] = /asks for (\d+ MiB) and allows (\d+ GiB)/.exec(readSection(page, 'Sizing')) ?? [];
  const short = (text = '') => text.replace(/ (.i)B/, '$1');

  expect([asked, allowed].map(short)).toEqual([requests?.memory, limits?.memory]);
  expect(Number.parseInt(asked ?? '', 10)).toBeGreaterThan(170);
});

test('the table of the kit has each of its directories', () => {
  const [table] = readTables(readSection(page, 'Kubernetes'));
  const named = table?.rows.flatMap(([cell = '']) => [...cell.matchAll(/\[([\w/-]+)\]/g)].map(([, name]) => name));

  expect(named?.toSorted()).toEqual(['base', ...listOverlays()].toSorted());
});
