import { Controller, Get, Header, UseFilters } from '@nestjs/common';
import { LockFilter } from '../prices/lock.filter.js';
import { PAGE } from './page.js';
import { type JobOverview, SingletonJobRegistry } from 'nestjs-singleton-job';

/** All jobs, from any replica. */
@Controller()
@UseFilters(LockFilter)
export class OverviewController {
  constructor(private readonly jobs: SingletonJobRegistry) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  page(): string {
    return PAGE;
  }

  @Get('overview')
  overview(): Promise<readonly JobOverview[]> {
    return this.jobs.overview();
  }
}
