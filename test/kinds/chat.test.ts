import { describe, expect, it } from 'vitest';
import type { ChatStep } from '../../src/job/job.js';
import { CHAT_FIGURES } from '../../src/job/schema/steps/chat.js';
import { chatKind, renderFigures } from '../../src/kinds/chat.js';
import { someLimits } from '../plan/a-plan.js';
import { anActionContext, someFigures } from './an-action.js';

function aStep(changes: Partial<ChatStep> = {}): ChatStep {
  return { kind: 'chat', text: 'done', room: undefined, when: 'always', limits: someLimits(), ...changes };
}

describe('turn of a chat step', () => {
  it.each([
    ['always', true, true],
    ['success', true, false],
    ['failure', false, true],
  ] as const)('%s: with exit code 0 %s, with any other %s', (when, onSuccess, onFailure) => {
    expect(chatKind.isDue(aStep({ when }), someFigures({ exitCode: 0 }), [])).toBe(onSuccess);
    for (const exitCode of [1, 3, 4, 75]) {
      expect(chatKind.isDue(aStep({ when }), someFigures({ exitCode }), [])).toBe(onFailure);
    }
  });

  it('is shown in the plan with its room and its time', () => {
    const expected = { to: 'chat room Ops', text: 'done (on failure)' };
    expect(chatKind.describe(aStep({ room: 'Ops', when: 'failure' }))).toEqual(expected);
    expect(chatKind.describe(aStep())).toEqual({ to: 'the chat room of the key', text: 'done' });
  });
});

describe('text of a chat step', () => {
  const render = (text: string, figures = {}) => {
    const rendering = renderFigures(text, someFigures(figures));
    return rendering.ok ? rendering.text : rendering;
  };

  it('knows every figure that a job may name', () => {
    const text = CHAT_FIGURES.map((name) => `${name}={{ ${name} }}`).join(' ');
    expect(render(text, { stop: { reason: 'guard', detail: 'too many' } })).toBe(
      'job=sale plan=planplanplan state=stopped reason=guard detail=too many read=10 accepted=7 rejected=1 skipped=1 ' +
        'inDoubt=1 unprocessed=0 seconds=65 startedAt=2026-11-21T12:00:00.000Z directory=/out/sale/planplanplan',
    );
  });

  it('says of a run that nothing stopped that it is finished', () => {
    expect(render('{{ state }} {{ reason }} {{ detail }}')).toBe('finished none none');
  });
});

describe('chat step', () => {
  it('begins, then posts to its room', async () => {
    const { context, told } = anActionContext([{ parsed: undefined }]);
    expect(await chatKind.perform(aStep({ text: '{{ accepted }}', room: 'Ops' }), context)).toMatchObject({
      status: 'accepted',
    });
    expect(told).toEqual(['begin', ['post a chat message', { messageRaw: '7', room: 'Ops' }]]);
  });

  it('posts nothing where its text names a figure that no job file may name', async () => {
    const { context, told } = anActionContext([]);
    await expect(chatKind.perform(aStep({ text: '{{ nobody }}' }), context)).rejects.toThrow('nobody');
    expect(told).toEqual([]);
  });

  it('stops nothing when it fails', () => {
    expect(chatKind.isEssential).toBe(false);
  });
});
