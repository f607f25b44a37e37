import { expect, test } from 'vitest';
import { renderRateChart } from '../../../src/report/page/charts.js';

const about = { title: '1 sms', unit: 'message', limit: 50 };
const chart = (...rows: number[]) => `${renderRateChart({ startMs: 0, spanMs: 1000, rows, pausedMs: 0 }, about)}`;

test('a step of one second has its figures in words, and no curve of one point', () => {
  expect(chart(7)).toContain('1 sms: 7 messages in 1 s; peak 7 a second, limit 50.');
  expect(chart(7)).not.toContain('<svg');
  expect(chart(7, 5)).toContain('<svg');
});
