import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { UnknownJobError } from 'nestjs-singleton-job';

/** A job that there is not is the caller's mistake. */
@Catch(UnknownJobError)
export class UnknownJobFilter extends BaseExceptionFilter implements ExceptionFilter {
  override catch(error: UnknownJobError, host: ArgumentsHost): void {
    super.catch(new NotFoundException(error.message), host);
  }
}
