import { playSeeds, type SeedsToPlay, settleOnTheSpot } from '../simulation.js';

/** A process that plays the given seeds, and nothing else. */
settleOnTheSpot();
// a scenario has many errors, and their stacks are not needed
Error.stackTraceLimit = 0;

process.on('message', (seeds: SeedsToPlay) => {
  void playSeeds(seeds).then((played) => process.send?.(played));
});
// a killed parent sends nothing more
process.on('disconnect', () => process.exit());
