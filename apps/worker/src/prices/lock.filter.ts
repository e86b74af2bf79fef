import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, HttpStatus } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { LockLostError, LocksClosedError, LockStoreError, LockUnavailableError } from 'nestjs-singleton-job';

/** A lock that somebody else has is no fault of anybody's; one of which nothing is known is worth another try. */
@Catch(LockUnavailableError, LockStoreError, LockLostError, LocksClosedError)
export class LockFilter extends BaseExceptionFilter implements ExceptionFilter {
  override catch(error: Error, host: ArgumentsHost): void {
    const status = error instanceof LockUnavailableError ? HttpStatus.LOCKED : HttpStatus.SERVICE_UNAVAILABLE;
    super.catch(new HttpException({ statusCode: status, message: error.message }, status), host);
  }
}
