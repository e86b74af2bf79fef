import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  type Type,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { createHash } from 'node:crypto';
import { type Settings, settings, type User } from '../settings.js';

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

type AuthenticatedRequest = Request & { user: User | null };
type Callers = readonly (readonly [token: string, user: User | null])[];

/** Accepts bearer tokens. It finds them by their digest: the duration of a look-up reveals nothing about them. */
function bearerTokenGuard(callersOf: (env: Settings) => Callers): Type<CanActivate> {
  @Injectable()
  class BearerTokenGuard implements CanActivate {
    readonly #callers: ReadonlyMap<string, User | null>;

    constructor(@Inject(settings.KEY) env: Settings) {
      this.#callers = new Map(callersOf(env).map(([token, user]) => [digest(token), user]));
    }

    canActivate(context: ExecutionContext): boolean {
      const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
      const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
      const user = this.#callers.get(digest(token));
      if (user === undefined) {
        context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', 'Bearer');
        throw new UnauthorizedException('This bearer token is not accepted here');
      }
      request.user = user;
      return true;
    }
  }
  return BearerTokenGuard;
}

export const UserGuard = bearerTokenGuard(({ USERS }) => USERS.map((user) => [user.token, user]));
export const OperatorGuard = bearerTokenGuard(({ OPERATOR_TOKEN }) => [[OPERATOR_TOKEN, null]]);

/** The user who sent the request. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);
