import { type JobMetadata } from '../decorators/index.js';
import { type AnySchedule } from '../schedule/index.js';
import { type FoundJob, locationOf } from './found-job.js';

/** What is said about a job of one of the three kinds. */
export interface ScheduledMetadata extends JobMetadata {
  readonly kind: AnySchedule['kind'];
}

/** What the only decorator of a member says; undefined if the member cannot be a job, which is then noted. */
export function checkMember(found: FoundJob, problems: string[]): ScheduledMetadata | undefined {
  const mistake = mistakeOf(found);
  const [metadata] = found.member.metadata;
  if (mistake === undefined && metadata !== undefined && isScheduled(metadata)) return metadata;
  problems.push(`${locationOf(found)}: ${mistake ?? 'has no decorator'}`);
  return undefined;
}

function mistakeOf({ member, scope, className }: FoundJob): string | undefined {
  const decorators = member.metadata.map(({ decorator }) => decorator);
  const [decorator = ''] = decorators;
  const name = String(member.name);
  if (decorators.includes('@Timeout')) {
    const fix = 'run it in onApplicationBootstrap(), or use @Interval or @Cron';
    return `@Timeout must not be used, got it where each new leader would run the job once more: ${fix}`;
  }
  if (decorators.length > 1) {
    return `must bear one decorator, got ${decorators.join(' and ')}: give each schedule a method of its own`;
  }
  if (member.isScheduledByNest) {
    const fix = 'remove that of @nestjs/schedule, which runs the method on every replica';
    return `must bear one decorator, got ${decorator} and one of @nestjs/schedule: ${fix}`;
  }
  switch (member.shape) {
    case 'static':
      return `${decorator} must be on a method of an instance, got a static method: make it one of the provider`;
    case 'accessor':
      return `${decorator} must be on a method, got a getter or setter: write it as async ${name}(run) { … }`;
    case 'property':
      return `${decorator} must be on a method, got a property: write it as async ${name}(run) { … }`;
    case 'method':
      return scopeMistake(scope, className, decorator);
  }
}

function scopeMistake(scope: FoundJob['scope'], className: string, decorator: string): string | undefined {
  const fix = 'move the job into a provider of its own, which gets what it needs by ModuleRef.resolve()';
  switch (scope) {
    case 'singleton':
      return undefined;
    case 'request':
      return `${decorator} must be on a singleton, got ${className}, which is request-scoped: ${fix}`;
    case 'request-by-dependency':
      return `${decorator} must be on a singleton, got ${className}, which depends on something request-scoped: ${fix}`;
    case 'transient':
      return `${decorator} must be on a singleton, got ${className}, which is transient: ${fix}`;
  }
}

function isScheduled(metadata: JobMetadata): metadata is ScheduledMetadata {
  return metadata.kind !== 'timeout';
}
