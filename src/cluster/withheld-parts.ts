import type { OpenRequest } from '../journal/replay.js';
import type { PartToSend, RequestReader } from '../run/send/request-reader.js';
import type { StepContext } from '../run/send/send-context.js';
import { judgeWithheld, withhold } from '../run/send/withhold.js';
import { StepNotices } from '../run/step-notices.js';

/**
 * The rows of a led step that may not be sent any more: what workers get was looked at before, and is taken back from them when
 * more are withheld. Where that cannot be known the run stops, and `failure` says why.
 */
export class WithheldParts {
  failure: unknown;
  readonly #context: StepContext;
  readonly #reader: RequestReader;
  readonly #notices: StepNotices;
  /** The version of what withholds when what is handed over was last looked at. */
  #version: number | undefined;

  constructor(context: StepContext, reader: RequestReader) {
    this.#context = context;
    this.#reader = reader;
    this.#notices = new StepNotices(context.deps, context.planned);
  }

  /** Withholds rows of a part in the journal, and gives what is left of it; undefined where all of it may be handed over. */
  async withhold(part: PartToSend): Promise<readonly OpenRequest[] | undefined> {
    const withheld = await withhold(part, this.#context).catch((error: unknown) => this.#fail(error));
    if (withheld === undefined) return undefined;
    for (const { verdict, count } of withheld.verdicts) this.#notices.noteWithheld(count, verdict);
    return withheld.left.map(({ open }) => open);
  }

  /** Finds the parts that have rows which are withheld, if more is withheld than at the last call. */
  async findAmong(handed: Iterable<OpenRequest>): Promise<readonly OpenRequest[]> {
    const { deps, kind } = this.#context;
    const { withholding } = deps;
    if (withholding === undefined || kind.recipients === undefined) return [];
    await withholding.refresh().catch((error: unknown) => this.#fail(error));
    if (this.failure !== undefined || withholding.version === this.#version) return [];
    this.#version = withholding.version;
    const found: OpenRequest[] = [];
    for (const open of handed) {
      const part = await this.#reader.readAgain({ ...open, isInFlight: false });
      if (judgeWithheld(part, this.#context) !== undefined) found.push(open);
    }
    return found;
  }

  /** What workers have is taken back before the step ends. */
  #fail(error: unknown): undefined {
    this.failure ??= error;
    this.#context.stop.request('interrupted', 'the run failed');
  }
}
