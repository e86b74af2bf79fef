/** The exports of the simulation. It runs in any Node program, without a test framework. */
export { drawPlan } from './draw-plan.js';
export { type Outcome, play, type ServerMutation, type PlayOptions } from './play.js';
export { type Failure, type Played, playSeeds, type SeedsToPlay, simulate } from './play-seeds.js';
export { type Fault, faultInWords, type Plan, type Setting, settingInWords } from './plan.js';
export { shrink } from './shrink.js';
export { settleOnTheSpot } from './settle.js';
