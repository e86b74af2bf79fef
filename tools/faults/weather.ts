import { type Verdict } from './lane.js';
import { type Message } from './message.js';

/** What the network between one replica and Redis does to messages. Half-open is `stalled`: accepted, and nothing passes. */
export type Weather = 'fine' | 'stalled' | 'requests-lost' | 'answers-lost';

export function fate(weather: Weather, { direction }: Message): Verdict {
  switch (weather) {
    case 'fine':
      return 'pass';
    case 'stalled':
      return 'hold';
    case 'requests-lost':
      return direction === 'request' ? 'lose' : 'pass';
    case 'answers-lost':
      return direction === 'answer' ? 'lose' : 'pass';
  }
}
