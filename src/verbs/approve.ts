import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import type { Context } from '../command/context.js';
import { nameActor, namePerson } from '../command/env.js';
import { openRunDirectory } from '../command/run-directory.js';
import { formatNextStep } from '../command/screen.js';
import { withRun } from '../command/with-job.js';
import { quoteWord, UserError } from '../domain/errors.js';
import { foldPerson, readEd25519 } from '../job/schema/approvers.js';
import type { Plan, PlanAt } from '../plan/format/plan-file.js';
import { type Approvals, findApprover, readApprovals, signApproval } from '../registry/approvals.js';
import { assertNotAbandoned } from '../registry/registry-state.js';
import { readRunRows } from '../report/run-rows.js';
import { formatApprovals } from '../texts/plan-text.js';
import { readNextOfPlan } from './job-result.js';
import { adopt, defineVerb, json, text, theRun } from './verb.js';

/** `volley approve RUN`: another person than the one who planned lets a plan be sent. Sends nothing. */
export const approve = defineVerb({
  args: { run: theRun },
  flags: {
    confirm: { ...text('The SHA-256 of plan.json, as plan and status print it'), demandOption: true },
    'key-file': text('File with your Ed25519 private key (PEM), where the job names `approvers`'),
    adopt,
    json,
  },
  examples: [['out/spring-sale/2026-11-22T0930-k3v9q2m8x4aa --confirm 5d41402abc4b… --key-file bob.pem', '']],
  run: async ({ run: written, confirm, keyFile }, context) => {
    const { screen, env } = context;
    const { directory, plan } = await openRunDirectory(context, written);
    const approvals = await withRun(context, { directory, plan }, async (run) => {
      const { registry } = run;
      const record = registry.state.recordOf(plan.id);
      assertNotAbandoned(record, directory);
      const before = await readApprovals(env.files, run, registry.state);
      await assertWaits({ directory, plan }, before, context);
      if (confirm.toLowerCase() !== before.planSha256) throw refuseDigest(directory, confirm, before);
      const key = await readKey(plan, keyFile, context);
      const name = nameApprover(plan, key, context);
      const isGiven = before.given.some((each) => each.fault === null && foldPerson(each.name) === foldPerson(name));
      if (isGiven) return before;
      const approval = { planSha256: before.planSha256, name, at: env.clock.now() };
      const signature = key === undefined ? {} : { signature: signApproval({ ...approval, plan: plan.id }, key) };
      const given = { ...approval, by: namePerson(context), ...signature };
      await registry.note(plan.id, { approved: [...(record.approved ?? []), given] });
      return readApprovals(env.files, run, registry.state);
    });
    const isReady = approvals.count >= approvals.required;
    const next = await readNextOfPlan(context, { directory, plan, testedRun: undefined });
    return {
      json: { job: plan.job.name, plan: plan.id, directory, state: isReady ? 'approved' : 'waiting', approvals },
      text: `${formatApprovals(plan, approvals, screen)}${formatNextStep(next, screen)}`,
      reason: `${approvals.count} of ${approvals.required} approvals`,
    };
  },
});

/** Refuses a plan that needs no approval, and a run that has nothing left to send. */
async function assertWaits(run: PlanAt, { required }: Approvals, { env: { files } }: Context): Promise<void> {
  const refuse = (so: string, hint: string) =>
    new UserError('bad-plan', `Cannot approve plan ${run.plan.id}: ${so}`, { hint });
  if (required === 0)
    throw refuse(
      'it asks for no approval, expected guards.requireApproval',
      `Send it: \`volley apply ${quoteWord(run.directory)}\``,
    );
  const { state } = await readRunRows(files, run);
  if (state.isFinished) throw refuse('it is finished, expected a plan', 'There is nothing left to send.');
}

function refuseDigest(directory: string, confirm: string, { planSha256 }: Approvals): UserError {
  const so = `its plan.json has the SHA-256 ${planSha256}, expected ${confirm}`;
  return new UserError('plan-mismatch', `Cannot approve ${directory}: ${so}`, {
    hint: 'Review the plan again: it is another one than you were given. Nothing was approved.',
  });
}

async function readKey({ job: { approvers } }: Plan, written: string | undefined, { env, secrets }: Context) {
  if ((written === undefined) !== (approvers === undefined)) {
    const so =
      written === undefined
        ? 'approvers, expected --key-file FILE with the key of one'
        : 'no approvers, expected the command without --key-file';
    throw new UserError('bad-flag', `Cannot approve: the job names ${so}`);
  }
  if (written === undefined) return undefined;
  const text = (await env.files.readText(resolve(written)).catch(() => undefined)) ?? '';
  if (text !== '') secrets.keep(text);
  const key = readEd25519(() => createPrivateKey(text));
  if (key !== undefined) return key;
  const so =
    text === '' ? 'it cannot be read, or is empty' : 'it is no Ed25519 private key in PEM without a passphrase';
  throw new UserError('bad-credentials', `Cannot use the key ${written}: ${so}`, {
    hint: 'Make one with `openssl genpkey -algorithm ed25519 -out KEY.pem`; its public key belongs into `approvers` of the job.',
  });
}

/** Whose approval it is: that of the key, or else of who runs the command. Refuses who planned. */
function nameApprover(plan: Plan, key: KeyObject | undefined, { terminal }: Context): string {
  const actor = nameActor(terminal.env);
  const name = key === undefined ? actor : findApprover(plan.job, createPublicKey(key));
  if (name === undefined) {
    throw new UserError('bad-credentials', `Cannot approve plan ${plan.id}: the key is of no approver of the job`, {
      hint: 'Its public key must stand in `approvers` of the job before the plan is made.',
    });
  }
  if (![actor, name].some((each) => foldPerson(each) === foldPerson(plan.plannedBy))) return name;
  throw new UserError(
    'guard',
    `Cannot approve plan ${plan.id}: ${plan.plannedBy} planned it, expected another person`,
    { hint: 'Nothing was approved. VOLLEY_ACTOR says who you are where several people share a user of the machine.' },
  );
}
