import { describe, expect, it } from '@jest/globals';
import { startLastStopFirst, MODULE_MARK, findOwnModule } from './module-distance.js';

describe('the distance of the module', () => {
  it('is smaller than that of any other module', () => {
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
  ])('cannot be set where Nest %s, and returns false', (_nest, module) => {
    expect(startLastStopFirst(module)).toBe(false);
  });

  it('is that of the class with the mark, also in a second copy of the package', () => {
    const marked = { metatype: Object.assign(class {}, { [MODULE_MARK]: true }) };

    expect(findOwnModule([{ metatype: class {} }, marked, { metatype: undefined }])).toBe(marked);
    expect(() => findOwnModule([marked, marked])).toThrow('must be imported once');
  });
});
