import { createHash } from 'node:crypto';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { settings, type User } from '../settings.js';

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

/** By the digest: the duration of a look-up reveals nothing about a token. */
const USERS = new Map(settings.users.map((user) => [digest(user.token), user]));

type AuthenticatedRequest = Request & { user: User };

/** Accepts requests with the bearer token of a user. */
@Injectable()
export class BearerTokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    const user = token === undefined ? undefined : USERS.get(digest(token));
    if (user === undefined) {
      context.switchToHttp().getResponse<Response>().setHeader('WWW-Authenticate', 'Bearer');
      throw new UnauthorizedException('Send the bearer token of a user');
    }
    request.user = user;
    return true;
  }
}

/** The user who sent the request. */
export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext): User => context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);
