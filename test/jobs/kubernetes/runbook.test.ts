import { expect, test } from 'vitest';
import { readPage, readSection, readTables } from '../../pages/page.js';
import { readQuantity } from './check-pods.js';
import { listWorkloads } from './manifest.js';
import { listOverlays, readOverlay } from './read-overlay.js';

const page = readPage('jobs/kubernetes/README.md');

test('the memory that the page names is what the kit asks for and allows, and more than was measured', () => {
  const { requests, limits } = listWorkloads(readOverlay('nightly'))[0]!.container.resources!;
  const [, asked, allowed] = /asks for (\d+ MiB) and allows (\d+ GiB)/.exec(readSection(page, 'Sizing')) ?? [];
  const read = (text = '') => readQuantity(text.replace(' ', '').replace('B', ''));

  expect([asked, allowed].map(read)).toEqual(
    [requests?.memory, limits?.memory].map((each) => readQuantity(each ?? '')),
  );
  expect(read(asked)).toBeGreaterThan(170 * 2 ** 20);
});

test('the table of the kit has each of its directories', () => {
  const [table] = readTables(readSection(page, 'Kubernetes'));
  const named = table?.rows.flatMap(([cell = '']) => [...cell.matchAll(/\[([\w/-]+)\]/g)].map(([, name]) => name));

  expect(named?.toSorted()).toEqual(['base', ...listOverlays()].toSorted());
});
