import { type Failure } from '../simulation.js';

/** The lines that show it, and the command that finds the faults that matter in this scenario. */
export function failureInWords({ seed, rule, evidence }: Failure): string {
  return `seed ${seed} breaks '${rule}':\n${evidence}\n  npm run simulate -- --shrink ${seed}`;
}
