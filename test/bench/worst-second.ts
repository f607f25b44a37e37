/** A request as the server saw it come. */
export interface Arrival {
  readonly atMs: number;
  /** Messages or rows in it. */
  readonly amount: number;
}

const SECOND_MS = 1000;
/** Share of the run that is left out at its start. */
const STARTING_SHARE = 0.05;

/** What came in a second of the steady part, on average. Each request counts for the time after it: the last one has none. */
export function achievedPerSecond(arrivals: readonly Arrival[]): number {
  const steady = arrivals.slice(Math.floor(arrivals.length * STARTING_SHARE));
  const [first, last] = [steady[0], steady.at(-1)];
  if (first === undefined || last === undefined || steady.length < 2) throw new Error('Two requests make a rate');
  const amount = steady.slice(0, -1).reduce((sum, arrival) => sum + arrival.amount, 0);
  return (amount * SECOND_MS) / (last.atMs - first.atMs);
}

/** The most that came within any second, its end not counted. */
export function worstSecond(arrivals: readonly Arrival[]): number {
  let [oldest, within, worst] = [0, 0, 0];
  for (const { atMs, amount } of arrivals) {
    within += amount;
    for (let gone = arrivals[oldest]; gone !== undefined && gone.atMs <= atMs - SECOND_MS; gone = arrivals[oldest]) {
      within -= gone.amount;
      oldest += 1;
    }
    worst = Math.max(worst, within);
  }
  return worst;
}
