import type { Progress } from '../../run/run-deps.js';

type Counts = Pick<Progress, 'accepted' | 'rejected' | 'inDoubt'>;

const NONE: Counts = { accepted: 0, rejected: 0, inDoubt: 0 };

/** What one worker has settled. Each time that it takes up a step, its progress counts from zero. */
export class SentRows {
  #before = NONE;
  #now = NONE;

  readonly note = (progress: Progress): void => {
    if (settled(progress) < settled(this.#now)) this.#before = this.total;
    const { accepted, rejected, inDoubt } = progress;
    this.#now = { accepted, rejected, inDoubt };
  };

  get total(): Counts {
    return {
      accepted: this.#before.accepted + this.#now.accepted,
      rejected: this.#before.rejected + this.#now.rejected,
      inDoubt: this.#before.inDoubt + this.#now.inDoubt,
    };
  }
}

function settled({ accepted, rejected, inDoubt }: Counts): number {
  return accepted + rejected + inDoubt;
}
