import type { ClusterStatus } from '../../cluster/postgres/read-status.js';
import { escapeText } from '../../command/terminal.js';
import { countOf, format } from '../../domain/count-of.js';

type Run = ClusterStatus['runs'][number];
type Lane = ClusterStatus['lanes'][number];

/** What a database holds, for a person; the words are those of jobs/reference/cluster.md. */
export function formatStatus({ runs, workers, processes, lanes, standbys }: ClusterStatus): string {
  const lines = [
    runs.length === 0 ? 'No runs: nothing of people is in the database.' : 'Runs',
    ...runs.map((run) => `  ${run.run}  ${run.job}: ${describeState(run)}; ${describeRequests(run)}`),
    workers.length === 0 ? 'No workers.' : 'Workers',
    ...workers.map(
      ({ name, leaseSeconds, held }) =>
        `  ${name}: has ${countOf(held, 'request')}, lease for ${Math.round(leaseSeconds)} s`,
    ),
    ...(lanes.length === 0 ? [] : ['Lanes']),
    ...lanes.map(describeLane),
    processes.length === 0 ? 'No other process is connected.' : `Connected: ${processes.join(', ')}.`,
    describeStandbys(standbys),
  ];
  return `${lines.map(escapeText).join('\n')}\n`;
}

function describeState({ step, isOpen, noLeaderSince, stop }: Run): string {
  const why = stop === undefined ? '' : `, since it was to stop (${stop})`;
  if (noLeaderSince !== undefined)
    return `no leader since ${noLeaderSince}, nothing of it begins${why}: run its job again`;
  if (stop !== undefined) return `stops: ${stop}`;
  return isOpen ? `step ${step}` : 'waits for its leader';
}

function describeRequests({ open, claimed, underWay, bodies }: Run): string {
  const states = `requests: ${format(open)} open, ${format(claimed)} claimed, ${format(underWay)} under way`;
  return `${states}; numbers and texts of people in ${countOf(bodies, 'request')}`;
}

function describeLane({ lane, share, pausedSeconds, usedSecondsAgo }: Lane): string {
  const pace = share === 1 ? 'not slowed down' : `slowed down to ${Math.round(share * 100)} % of its limits`;
  const pause = pausedSeconds > 0 ? `, paused for ${Math.ceil(pausedSeconds)} s` : '';
  return `  ${lane}: used ${describeAge(usedSecondsAgo)}, ${pace}${pause}`;
}

function describeAge(seconds: number): string {
  if (seconds < 2) return 'now';
  if (seconds < 120) return `${Math.round(seconds)} s ago`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min ago` : `${Math.round(seconds / 3600)} h ago`;
}

function describeStandbys(standbys: ClusterStatus['standbys']): string {
  if (standbys === undefined) return 'Standbys: this role may not see them (grant pg_monitor).';
  const { synchronous, asynchronous } = standbys;
  if (synchronous > 0) return `Standbys: ${synchronous} synchronous; a promotion loses nothing.`;
  if (asynchronous === 0) return 'Standbys: none.';
  return `Standbys: ${asynchronous}, asynchronous; a promotion may lose the last commits, and then runs stop for a person.`;
}
