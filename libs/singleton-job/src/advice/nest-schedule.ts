const SWITCH_IMPORT =
  "To run them on one replica: import { Cron, Interval } from 'nestjs-singleton-job'. For @Timeout use its @Once, which " +
  'runs once for ever on all replicas together, and with version once per deploy, or onApplicationBootstrap(), which ' +
  'runs on each';

/** About methods that have a decorator of `@nestjs/schedule`. */
export function aboutNestSchedule(methods: readonly string[], isModuleImported: boolean): string {
  const names = [...new Set(methods)].join(', ');
  if (isModuleImported) return `these run on every replica, by @nestjs/schedule: ${names}. ${SWITCH_IMPORT}`;
  const why = 'They have decorators of @nestjs/schedule, and its ScheduleModule is not imported';
  return `these never run: ${names}. ${why}. ${SWITCH_IMPORT}`;
}
