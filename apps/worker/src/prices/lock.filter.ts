import { type ArgumentsHost, Catch, ConflictException, ServiceUnavailableException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { LockLostError, LocksClosedError, StoreError, LockUnavailableError } from 'nestjs-singleton-job';

/** 409 for a lock that is held. 503 if the lock is unknown or lost: the caller may try again. */
@Catch(LockUnavailableError, StoreError, LockLostError, LocksClosedError)
export class LockFilter extends BaseExceptionFilter {
  override catch(error: Error, host: ArgumentsHost): void {
    const isHeld = error instanceof LockUnavailableError;
    super.catch(isHeld ? new ConflictException(error.message) : new ServiceUnavailableException(error.message), host);
  }
}
