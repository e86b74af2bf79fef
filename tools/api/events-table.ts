import type ts from 'typescript';
import { JOB_EVENTS } from '../../libs/singleton-job/src/events/index.js';
import { type Declarations } from './declarations.js';

/** Fields whose possible values are listed. */
const WITH_VALUES = ['reason', 'code'];

/** The table of all events for `docs/observability.md`: what each one means by the list, its payload by its type. */
export function eventsTable(declarations: Declarations): string {
  const { checker } = declarations;
  const events = declarations.exportsOf('index.ts').get('JobEvents');
  if (events === undefined) throw new Error('the library does not export JobEvents');
  const payloadOf = (event: string): ts.Type => {
    const member = checker.getDeclaredTypeOfSymbol(events).getProperty(event);
    if (member === undefined) throw new Error(`JobEvents has no ${event}`);
    return checker.getTypeOfSymbol(member);
  };
  const rows = Object.entries(JOB_EVENTS).map(
    ([event, meaning]) => `| \`${event}\` | ${meaning} | ${cellOf(payloadOf(event), checker)} |`,
  );
  return ['| event | what happened | payload |', '|---|---|---|', ...rows].join('\n');
}

function cellOf(payload: ts.Type, checker: ts.TypeChecker): string {
  // what all runs have comes before what one event adds
  const properties = payload.getProperties().toSorted((one, other) => positionOf(one) - positionOf(other));
  const fields = properties.map((field) => {
    const type = checker.getTypeOfSymbol(field);
    const values = WITH_VALUES.includes(field.name) && type.isUnion() ? type.types : [];
    const listed = values.map((value) => `\`${(value as ts.StringLiteralType).value}\``).join(', ');
    return { name: `\`${field.name}\``, listed };
  });
  // the field with values comes last, after all others
  const plain = fields.filter(({ listed }) => listed === '').map(({ name }) => name);
  const withValues = fields.filter(({ listed }) => listed !== '').map(({ name, listed }) => `${name}: ${listed}`);
  return [...plain, ...withValues].join(' ') || '–';
}

function positionOf({ valueDeclaration }: ts.Symbol): number {
  return valueDeclaration?.pos ?? 0;
}
