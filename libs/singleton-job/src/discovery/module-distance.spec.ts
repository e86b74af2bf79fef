import { describe, expect, it } from '@jest/globals';
import { startLastStopFirst, MODULE_MARK, findOwnModule } from './module-distance.js';

describe('the distance of the module', () => {
  it('is nearer than that of any other', () => {
    const module = { metatype: class {}, distance: Number.MAX_VALUE };

    expect(startLastStopFirst(module)).toBe(true);
    expect(module.distance).toBe(0);
  });

  it.each([
    ['has no distance', { metatype: class {} }],
    ['does not let it be set', Object.freeze({ metatype: class {}, distance: 3 })],
    [
      'ignores what is set',
      {
        metatype: class {},
        get distance() {
          return 3;
        },
        set distance(_value) {},
      },
    ],
    ['hides the module', undefined],
  ])('cannot be taken where Nest %s, and that is told', (_nest, module) => {
    expect(startLastStopFirst(module)).toBe(false);
  });

  it('belongs to the class with the mark, whichever copy of the package it is of', () => {
    const ours = { metatype: Object.assign(class {}, { [MODULE_MARK]: true }) };

    expect(findOwnModule([{ metatype: class {} }, ours, { metatype: undefined }])).toBe(ours);
    expect(() => findOwnModule([ours, ours])).toThrow('must be imported once');
  });
});
