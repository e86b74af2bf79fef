import type ts from 'typescript';
import { JOB_EVENTS } from '../../libs/singleton-job/src/events/index.js';
import { type Declarations } from './declarations.js';

/** Fields whose possible values are listed. */
const WITH_VALUES = ['because', 'reason', 'code'];

/** Events about Redis and the process. The page only names them. */
const NAMED_ONLY: readonly string[] = [
  'eventLoopBlocked',
  'storeUnreachable',
  'storeRecovered',
  'requestDenied',
  'clockAhead',
  'evictionPossible',
  'restartsHidden',
  'lockTtlRestored',
  'heartbeatThreadFailed',
  'runnerFailed',
  'observerFailed',
] satisfies readonly (keyof typeof JOB_EVENTS)[];

/** The table of events for `docs/observability.md`, and a line that names the other events. */
export function eventsTable(declarations: Declarations): string {
  const { checker } = declarations;
  const events = declarations.exportsOf('index.ts').get('JobEvents');
  if (events === undefined) throw new Error('the library does not export JobEvents');
  const payloadOf = (event: string): ts.Type => {
    const member = checker.getDeclaredTypeOfSymbol(events).getProperty(event);
    if (member === undefined) throw new Error(`JobEvents has no ${event}`);
    return checker.getTypeOfSymbol(member);
  };
  const rows = Object.entries(JOB_EVENTS)
    .filter(([event]) => !NAMED_ONLY.includes(event))
    .map(([event, meaning]) => `| \`${event}\` | ${meaning} | ${valuesIn(payloadOf(event), checker)}|`);
  const others = NAMED_ONLY.map((event) => `\`${event}\``).join(', ');
  return ['| event | what happened | values |', '|---|---|---|', ...rows, '', `Also: ${others}.`].join('\n');
}

/** The fields of a payload that have a fixed set of values. */
function valuesIn(payload: ts.Type, checker: ts.TypeChecker): string {
  const lists = payload.getProperties().flatMap((field) => {
    const type = checker.getTypeOfSymbol(field);
    if (!WITH_VALUES.includes(field.name) || !type.isUnion()) return [];
    const values = type.types.map((value) => `\`${(value as ts.StringLiteralType).value}\``);
    return `\`${field.name}\`: ${values.join(', ')} `;
  });
  return lists.join('');
}
