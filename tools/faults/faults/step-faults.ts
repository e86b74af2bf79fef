import { type Fault, type Field, happened, NothingHappened, tooLate, victim } from '../fault.js';
import { type Verdict } from '../lane.js';
import { type Message, type ScriptName } from '../message.js';
import { LEASE } from '../settings.js';
import { type Slot } from '../slot.js';
import { type WitnessedEvent } from '../testimony.js';

/** A point between two steps of a term. Whoever gets there is killed there. */
export interface Step {
  readonly name: string;
  readonly job: 'cron' | 'long-cron';
  /** Who is watched: the leader; whoever bids when the leader stops; or the leader, which is asked to stop. */
  readonly who: 'leader' | 'bidder' | 'stopping leader';
  /** Whether a message or a testimony is the point, and for a message whether it still arrives. */
  readonly at:
    | { readonly request: ScriptName; readonly then: Verdict }
    | { readonly answer: ScriptName; readonly said: string; readonly then: Verdict }
    | { readonly told: WitnessedEvent };
}

export const STEPS: readonly Step[] = [
  { name: 'bid sent, and it arrives', job: 'cron', who: 'bidder', at: { request: 'acquire', then: 'pass' } },
  { name: 'bid sent, and it is lost', job: 'cron', who: 'bidder', at: { request: 'acquire', then: 'lose' } },
  { name: 'granted, not told', job: 'cron', who: 'bidder', at: { answer: 'acquire', said: '1', then: 'hold' } },
  { name: 'granted, told', job: 'cron', who: 'bidder', at: { told: 'gained' } },
  { name: 'claim sent, and it arrives', job: 'cron', who: 'leader', at: { request: 'claim', then: 'pass' } },
  { name: 'claim sent, and it is lost', job: 'cron', who: 'leader', at: { request: 'claim', then: 'lose' } },
  { name: 'claimed, not told', job: 'cron', who: 'leader', at: { answer: 'claim', said: 'claimed', then: 'hold' } },
  { name: 'run begun', job: 'long-cron', who: 'leader', at: { told: 'runBegan' } },
  { name: 'run ended', job: 'cron', who: 'leader', at: { told: 'runEnded' } },
  { name: 'renewal sent, and it arrives', job: 'cron', who: 'leader', at: { request: 'renew', then: 'pass' } },
  { name: 'renewal sent, and it is lost', job: 'cron', who: 'leader', at: { request: 'renew', then: 'lose' } },
  { name: 'renewed, not told', job: 'cron', who: 'leader', at: { answer: 'renew', said: '1', then: 'hold' } },
  {
    name: 'release sent, and it arrives',
    job: 'cron',
    who: 'stopping leader',
    at: { request: 'release', then: 'pass' },
  },
  {
    name: 'release sent, and it is lost',
    job: 'cron',
    who: 'stopping leader',
    at: { request: 'release', then: 'lose' },
  },
  {
    name: 'released, not told',
    job: 'cron',
    who: 'stopping leader',
    at: { answer: 'release', said: '1', then: 'hold' },
  },
];

/** Kills a replica exactly at a step. */
export function killedAt(step: Step): Fault {
  return {
    name: `killed: ${step.name}`,
    bound: LEASE,
    strike: async (field) => {
      const leader = victim(field, step.job);
      const watched = step.who === 'bidder' ? field.fleet.slots.filter((slot) => slot !== leader) : [leader];
      const hit = firstAt(step, field, watched);
      // who hands over leaves others to bid
      const stopping = step.who === 'leader' ? undefined : leader.replica.terminate();
      const killed = await hit;
      field.since();
      const { signal } = await killed.replica.exited;
      happened(`it was killed when it had ${step.name}`, signal === 'SIGKILL');
      await stopping;
      // by those that are left: one that starts would ask at once
      await field.fleet.takenOver();
      for (const slot of field.fleet.slots) if (slot.replica.exit !== undefined) slot.start();
    },
  };
}

/** At a step that chance picks. */
export const KILLED_BETWEEN_STEPS: Fault = {
  name: 'killed between two steps',
  bound: LEASE,
  strike: (field) => killedAt(field.chance.pick(STEPS as [Step, ...Step[]])).strike(field),
};

/** Kills the first of `slots` that gets to the step, in the very moment, and resolves with it. */
async function firstAt(step: Step, { fleet }: Field, slots: readonly Slot[]): Promise<Slot> {
  let victim: Slot | undefined;
  const kill = (slot: Slot): void => {
    victim = slot;
    void slot.replica.kill();
  };
  if ('told' in step.at) {
    const { told } = step.at;
    await fleet.witness.next(step.name, ({ event, job, replica }) => {
      const slot = slots.find(({ replica: { name } }) => name === replica);
      if (victim !== undefined || slot === undefined || event !== told || job !== step.job) return false;
      kill(slot);
      return true;
    });
  } else {
    const { then } = step.at;
    const gone = new AbortController();
    const caught = slots.map(({ proxy }, index) =>
      proxy.catch((message) => {
        const slot = slots[index];
        if (victim !== undefined || slot === undefined || !isMeant(step, message)) return undefined;
        kill(slot);
        return then;
      }, gone.signal),
    );
    await Promise.race([...caught, tooLate(`a replica had ${step.name}`, gone)]);
    gone.abort();
  }
  if (victim === undefined) throw new NothingHappened(`a replica had ${step.name}`);
  return victim;
}

function isMeant({ at, job }: Step, message: Message): boolean {
  if (message.job !== job) return false;
  if ('request' in at) return message.direction === 'request' && message.command === at.request;
  if ('answer' in at) {
    return message.direction === 'answer' && message.command === at.answer && message.words?.[0] === at.said;
  }
  return false;
}
