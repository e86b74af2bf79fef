import { argumentOf, isArgument, misplacedIn, OPTION_FIXES, type ResolvedJobOverrides } from '../options/index.js';
import { type AnySchedule } from '../schedule/index.js';

const PHRASES = {
  'fixed-rate': 'a fixed-rate job',
  interval: 'an interval job',
  cron: 'a cron job',
} as const;

/** What an override sets that the kind of its job does not have, a sentence each. */
export function misplacedOverrides(
  kind: AnySchedule['kind'],
  name: string,
  { given = [] }: Partial<ResolvedJobOverrides>,
): string[] {
  return misplacedIn(given, kind).map((option) => {
    const fix = isArgument(option) ? `its schedule is set by ${argumentOf(kind)}` : OPTION_FIXES[option];
    return `jobs.${name}.${option} is no option of ${PHRASES[kind]}: ${fix ?? 'leave it out'}`;
  });
}
