import { type Failure } from '../../test/simulation/simulation.js';

/** The lines that show it, and how to see the rest. */
export function failureInWords({ seed, rule, evidence }: Failure): string {
  return `seed ${seed} breaks '${rule}':\n${evidence}\n  npm run simulate -- --shrink ${seed}`;
}
