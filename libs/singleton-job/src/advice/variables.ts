import { editDistance } from './suggest.js';

/** With another word or a digit it is another variable, and not a misspelling. */
const THREE_WORDS = /^[a-z]+(_[a-z]+){0,2}$/i;
const MAX_DISTANCE = 2;

/** About a variable that may be meant to be the one that switches all jobs off. Undefined: it is another one. */
export function misspeltVariable(name: string, value: string | undefined, meant: string): string | undefined {
  const switchesOff = !['', 'true', undefined].includes(value);
  const isSimilar = THREE_WORDS.test(name) && Math.abs(name.length - meant.length) <= MAX_DISTANCE;
  if (!switchesOff || !isSimilar || editDistance(name.toUpperCase(), meant) > MAX_DISTANCE) return undefined;
  return `${name} is set, and ${meant} is not: to switch all jobs off, set ${meant}=false`;
}
