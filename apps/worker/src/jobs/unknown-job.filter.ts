import { type ArgumentsHost, Catch, NotFoundException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { UnknownJobError } from 'nestjs-singleton-job';

/** 404 for a job that does not exist. */
@Catch(UnknownJobError)
export class UnknownJobFilter extends BaseExceptionFilter {
  override catch(error: UnknownJobError, host: ArgumentsHost): void {
    super.catch(new NotFoundException(error.message), host);
  }
}
