/** The one checker of histories, of simulations and of real processes. */
export { check } from './checker/check.js';
export { lossesOf } from './checker/losses.js';
export { byTerm, termKey } from './checker/timing.js';
export {
  type Calm,
  type History,
  type Open,
  type Rule,
  type Settings,
  type Violation,
  type WitnessedConfirmation,
  type WitnessedDrop,
  type WitnessedFault,
  type WitnessedHolding,
  type WitnessedProcess,
  type WitnessedRefusal,
  type WitnessedReport,
  type WitnessedRun,
  type WitnessedSight,
  type WitnessedStep,
  type WitnessedTerm,
} from './checker/history.js';
