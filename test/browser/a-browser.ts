import chromium from '@sparticuz/chromium';
import { type Browser, chromium as launcher } from 'playwright-core';

/** A headless Chromium, as the package carries it; `CHROME_PATH` names another. */
export async function aBrowser(): Promise<Browser> {
  const { CHROME_PATH } = process.env;
  if (CHROME_PATH !== undefined) return launcher.launch({ executablePath: CHROME_PATH });
  // WebGL, by a processor in the place of a graphics card, is a fifth of what a test costs.
  chromium.setGraphicsMode = false;
  // In one process it ends with its first page; without web security it sends no Origin.
  const unwanted = ['--single-process', '--disable-web-security'];
  const args = chromium.args.filter((each) => !unwanted.includes(each));
  const { TMPDIR } = process.env;
  // It is unpacked once, and stays: not in memory.
  delete process.env.TMPDIR;
  const executablePath = await chromium.executablePath();
  if (TMPDIR !== undefined) process.env.TMPDIR = TMPDIR;
  return launcher.launch({ executablePath, args });
}
