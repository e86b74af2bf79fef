import { type ArgumentsHost, BadRequestException, Catch } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { InvalidOptionsError } from 'nestjs-singleton-job';

/** 400 for a wait that is no duration or too long, and for a pause with mistakes. */
@Catch(InvalidOptionsError)
export class InvalidOptionsFilter extends BaseExceptionFilter {
  override catch(error: InvalidOptionsError, host: ArgumentsHost): void {
    super.catch(new BadRequestException(error.message), host);
  }
}
