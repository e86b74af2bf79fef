// nightly.ts
import { Injectable } from '@nestjs/common';
import { Cron } from 'nestjs-singleton-job';

export const NIGHTLY = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' } as const;

@Injectable()
export class Reports {
  @Cron(NIGHTLY.cron, { name: 'nightly-report', timeZone: NIGHTLY.timeZone })
  async write(): Promise<void> {}
}
