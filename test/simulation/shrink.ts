import { type Fault, type Plan } from './plan.js';
import { play, type PlayOptions } from './play.js';
import { type Rule } from './history.js';

/**
 * The smallest scenario found that still breaks a rule. It first leaves out faults, many at once and then one by one. Then it shortens the
 * faults that last.
 */
export async function shrink(plan: Plan, rule: Rule, options: PlayOptions = {}): Promise<Plan> {
  const breaks = async (faults: readonly Fault[]): Promise<boolean> => {
    const { violations } = await play({ ...plan, faults }, options);
    return violations.some((violation) => violation.rule === rule);
  };
  let faults = await withoutMany(plan.faults, breaks);
  faults = await shortened(faults, breaks);
  return { ...plan, faults };
}

type Breaks = (faults: readonly Fault[]) => Promise<boolean>;

async function withoutMany(all: readonly Fault[], breaks: Breaks): Promise<readonly Fault[]> {
  let faults = all;
  let size = Math.ceil(faults.length / 2);
  while (size > 0) {
    let isSmaller = false;
    for (let from = 0; from < faults.length;) {
      const fewer = faults.toSpliced(from, size);
      if (await breaks(fewer)) {
        faults = fewer;
        isSmaller = true;
      } else {
        from += size;
      }
    }
    if (!isSmaller || faults.length === 0) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return faults;
}

/** Halves the duration of each fault as long as the rule still breaks. */
async function shortened(all: readonly Fault[], breaks: Breaks): Promise<readonly Fault[]> {
  let faults = all;
  for (const [index] of all.entries()) {
    for (let tries = 0; tries < 6; tries++) {
      const fault = faults[index];
      if (fault === undefined || !('forMs' in fault) || fault.forMs < 1) break;
      const shorter = faults.with(index, { ...fault, forMs: fault.forMs / 2 });
      if (!(await breaks(shorter))) break;
      faults = shorter;
    }
  }
  return faults;
}
