import { Counter, Gauge, Registry } from 'prom-client';

/**
 * Every metric that there is, and what it says; jobs/reference/metrics.md lists them, and a test compares. Names follow Prometheus: base
 * units, `_total` for what only grows. Labels take few values each: none names a run, a row, a person or an address. The job is
 * `job_name`, because Prometheus has a label `job` of its own.
 */
const HELP = {
  // Of what is sent.
  volley_requests_total:
    'Requests to the service, by HTTP status; no_answer: sent, and no whole answer came; not_sent: no connection.',
  volley_request_duration_seconds: 'Time from a request to the end of its answer, or to its failure.',
  volley_breaker_open: '1 after too many bad answers in a row: one request at a time is tried. Otherwise 0.',
  volley_lane_share_ratio:
    'Share of its limits that the lane uses: 1, less after the service asked to slow down, or where the database of a cluster is far.',
  volley_lane_limit_requests_per_second: 'Limit of the lane in requests a second.',
  volley_lane_limit_messages_per_second: 'Limit of the lane in messages a second, where it has one.',
  volley_database_lost:
    '1 while the database of a cluster does not answer, and nothing is sent; 0 while it does, or where there is none.',
  volley_database_answer_seconds: 'Time that the database of a cluster took for its last answer to a short call.',
  // Of a run.
  volley_rows_total:
    'Rows of the runs that this command worked on, by outcome: accepted, rejected, skipped or in_doubt. Those of earlier processes of a run count.',
  volley_unprocessed_rows: 'Rows that are planned and have no outcome yet.',
  volley_in_doubt_rows: 'Rows in doubt in all runs of the job, this one and earlier ones.',
  volley_disk_available_bytes: 'What is free on the disk that holds the runs of the job.',
  volley_running: '1 while the command works on the job, 0 when it has ended.',
  volley_last_exit_code: 'Exit code of the last command that ended.',
  volley_last_success_timestamp_seconds: 'When a command last ended with exit code 0; 0 if none ever did.',
  // Of a worker.
  volley_worker_running: '1 while the worker works, 0 when it has ended.',
  volley_worker_lease_held:
    '1 while the database has confirmed the lease of the worker in time; else 0, and it sends nothing.',
  volley_worker_waits_for_leader:
    '1 while there is a run in the database, and no leader that lets the worker work on it; else 0.',
  // Of the listener.
  volley_events_total:
    'Deliveries of events, by outcome: written, duplicate, bad (no JSON object), refused (wrong secret) or busy; dropped: connections closed at once.',
  volley_listener_accepting: '1 while events are accepted, 0 once the file cannot be written.',
} as const;

type Name = keyof typeof HELP;

/** Metrics, as they are served: some of them are found out only then, by `collect`. */
export abstract class Figures extends Registry {
  override async metrics(): Promise<string> {
    await this.collect();
    return super.metrics();
  }

  protected abstract collect(): void | Promise<void>;

  protected counter(name: Name, ...labelNames: readonly string[]): Counter {
    return new Counter(this.describe(name, labelNames));
  }

  protected gauge(name: Name, ...labelNames: readonly string[]): Gauge {
    return new Gauge(this.describe(name, labelNames));
  }

  protected describe(name: Name, labelNames: readonly string[]) {
    return { name, help: HELP[name], labelNames, registers: [this as Registry] };
  }
}

/** A counter whose figure is kept elsewhere. */
export function setCounter(counter: Counter, labels: Readonly<Record<string, string | number>>, value: number): void {
  counter.remove(labels);
  counter.inc(labels, value);
}
