import { describe, expect, it } from 'vitest';
import { monHost } from './rook.ts';

describe('monitors that Rook names', () => {
  it.each([
    ['a=10.0.0.1:6789', '[v2:10.0.0.1:3300,v1:10.0.0.1:6789]'],
    // Rook writes them in any order.
    ['b=10.0.0.2:6789,a=10.0.0.1:6789', '[v2:10.0.0.1:3300,v1:10.0.0.1:6789],[v2:10.0.0.2:3300,v1:10.0.0.2:6789]'],
    ['a=10.0.0.1:3300', '[v2:10.0.0.1:3300]'],
    ['a=[fd00::1]:6789', '[v2:[fd00::1]:3300,v1:[fd00::1]:6789]'],
    ['', ''],
    ['a=', ''],
  ])('%j', (endpoints, host) => expect(monHost(endpoints)).toBe(host));
});
