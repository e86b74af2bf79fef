import { describe, expect, it } from '@jest/globals';
import { Environment, InvalidEnvironmentError } from './environment.js';

describe('the environment of the worker', () => {
  it('has defaults for missing variables', () => {
    const environment = new Environment({});
    expect(environment.wholeNumber('EVERY', 5)).toBe(5);
    expect(environment.milliseconds('TAKES', '2s')).toBe(2_000);
    expect(environment.oneOf('LEVEL', ['log', 'debug'], 'log')).toBe('log');
    expect(environment.hasUrl('COLLECTOR', 'http://collector')).toBe(false);
    environment.check();
  });

  it('reads numbers, durations with their unit, choices and addresses', () => {
    const environment = new Environment({ EVERY: '0', TAKES: '1m', LEVEL: 'debug', COLLECTOR: 'https://collector' });
    expect(environment.wholeNumber('EVERY', 5)).toBe(0);
    expect(environment.milliseconds('TAKES', '2s')).toBe(60_000);
    expect(environment.oneOf('LEVEL', ['log', 'debug'], 'log')).toBe('debug');
    expect(environment.hasUrl('COLLECTOR', 'http://collector')).toBe(true);
    environment.check();
  });

  it('reports all mistakes at once, with their fixes', () => {
    const environment = new Environment({ EVERY: '-1', TAKES: '800', LEVEL: '', COLLECTOR: 'collector:4318' });
    environment.wholeNumber('EVERY', 5);
    environment.milliseconds('TAKES', '2s');
    environment.oneOf('LEVEL', ['log', 'debug'], 'log');
    environment.hasUrl('COLLECTOR', 'http://collector');
    expect(() => {
      environment.check();
    }).toThrow(
      new InvalidEnvironmentError([
        'EVERY must be a whole number, got "-1": write it as 5, or unset it',
        'TAKES must be a duration, got "800": write it with its unit, as in 2s, or unset it',
        'LEVEL must be one of log, debug, got "": use one of them, or unset it',
        'COLLECTOR must be a URL of HTTP, got "collector:4318": write it as http://collector, or unset it',
      ]),
    );
  });
});
