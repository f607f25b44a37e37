import { type KeyObject, sign, verify } from 'node:crypto';
import type { Job } from '../job/job.js';
import { foldPerson, readPublicKey } from '../job/schema/approvers.js';
import { digestPlanOf, type Plan, type PlanAt } from '../plan/format/plan-file.js';
import type { Approval } from '../plan/format/run-record.js';
import type { Files } from '../storage/files.js';
import type { RegistryState } from './registry-state.js';

/** What a plan asks for before it is sent, and what it has. */
export interface Approvals {
  /** The digest of its plan.json as it is now. */
  readonly planSha256: string;
  readonly required: number;
  readonly count: number;
  readonly given: readonly GivenApproval[];
}

interface GivenApproval {
  readonly at: string;
  readonly name: string;
  readonly by: string;
  /** Why it does not count; null for one that does. */
  readonly fault: string | null;
}

/**
 * The approvals of a plan, judged by the plan itself: what it asks for was planned, and no later job file changes that. One counts if it is of
 * this very plan.json, of another person than the one who planned, the first of that person, and, where the job names approvers, signed with the
 * key of one of them.
 */
export async function readApprovals(
  files: Files,
  { directory, plan }: PlanAt,
  registry: Pick<RegistryState, 'recordOf'>,
): Promise<Approvals> {
  const planSha256 = await digestPlanOf(files, directory);
  const counted = new Set<string>();
  const given = (registry.recordOf(plan.id).approved ?? []).map((entry): GivenApproval => {
    const { name, by, at } = entry;
    const fault = findFault(entry, plan, planSha256) ?? (counted.has(foldPerson(name)) ? 'given before' : null);
    if (fault === null) counted.add(foldPerson(name));
    return { at: new Date(at).toISOString(), name, by, fault };
  });
  const required = plan.testOf === undefined ? (plan.job.guards.requireApproval ?? 0) : 0;
  return { planSha256, required, count: counted.size, given };
}

function findFault(entry: Approval, { id, plannedBy, job: { approvers } }: Plan, planSha256: string) {
  if (entry.planSha256 !== planSha256) return 'plan.json was another one';
  if (foldPerson(entry.name) === foldPerson(plannedBy)) return 'given by who planned it';
  if (approvers === undefined) return undefined;
  const key = approvers.find(({ name }) => name === entry.name)?.publicKey;
  if (key === undefined) return 'not given by an approver of the job';
  return isSigned({ ...entry, plan: id }, key) ? undefined : 'its signature is not valid';
}

/** What stands behind `volley approve RUN`: who approves has their own key in the place of KEY.pem. */
export function listApproveFlags({ job }: Pick<Plan, 'job'>, planSha256: string): string[] {
  return ['--confirm', planSha256, ...(job.approvers === undefined ? [] : ['--key-file', 'KEY.pem'])];
}

/** The approver whose key it is; undefined where the job names none with it. */
export function findApprover({ approvers = [] }: Pick<Job, 'approvers'>, publicKey: KeyObject): string | undefined {
  return approvers.find((each) => readPublicKey(each.publicKey)?.equals(publicKey) === true)?.name;
}

/** Base64, by an Ed25519 private key. */
export function signApproval(approval: SignedText, key: KeyObject): string {
  return sign(null, textOfApproval(approval), key).toString('base64');
}

function isSigned({ signature, ...approval }: SignedText & Pick<Approval, 'signature'>, publicKey: string): boolean {
  const key = readPublicKey(publicKey);
  if (key === undefined || signature === undefined) return false;
  return verify(null, textOfApproval(approval), key, Buffer.from(signature, 'base64'));
}

type SignedText = Pick<Approval, 'planSha256' | 'name' | 'at'> & { readonly plan: string };

/** What is signed: one line of JSON with these keys in this order, and no line end. */
function textOfApproval({ plan, planSha256, name, at }: SignedText): Buffer {
  return Buffer.from(JSON.stringify({ approval: 1, plan, planSha256, name, at: new Date(at).toISOString() }));
}
