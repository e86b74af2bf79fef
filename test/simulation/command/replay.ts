import { faultInWords, play, type Plan, settingInWords, shrink } from '../simulation.js';

/** Reduces a scenario to the faults that break its first rule, and prints it. */
export async function shrinkAndPrint(plan: Plan): Promise<boolean> {
  const { violations } = await play(plan);
  const [violation] = violations;
  if (violation === undefined) {
    console.log(`seed ${plan.seed} breaks nothing`);
    return true;
  }
  return replay(await shrink(plan, violation.rule));
}

/** Prints a scenario from the beginning to the end. Returns whether every rule was kept. */
export async function replay(plan: Plan): Promise<boolean> {
  console.log(`seed ${plan.seed}: ${settingInWords(plan)}`);
  for (const fault of plan.faults) console.log(faultInWords(fault));
  console.log('');
  const { violations } = await play(plan, {
    print: (line) => {
      console.log(line);
    },
  });
  for (const { rule, evidence } of violations) console.log(`\n'${rule}' is broken:\n${evidence}`);
  console.log(`\n${violations.length} violations`);
  return violations.length === 0;
}
