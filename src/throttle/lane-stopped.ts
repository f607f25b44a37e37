/**
 * How a wait ends in a lane that was stopped: nothing of the request has been sent. Not a failure, and none of the
 * three kinds of error: the code that stopped the lane catches it.
 */
export class LaneStopped extends Error {
  override readonly name = 'LaneStopped';

  constructor() {
    super('The lane was stopped; the request was not sent');
  }
}
