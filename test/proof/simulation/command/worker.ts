import { playSeeds, type SeedsToPlay, settleOnTheSpot } from '../simulation.js';

/** A process that plays the seeds that it is told to, and nothing else. */
settleOnTheSpot();
// nobody reads the stacks of the errors that a story is full of
Error.stackTraceLimit = 0;

process.on('message', (seeds: SeedsToPlay) => {
  void playSeeds(seeds).then((played) => process.send?.(played));
});
// a parent that was killed sends nothing any more
process.on('disconnect', () => process.exit());
