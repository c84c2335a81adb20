/** resource.Quantity: `0.5` is `500m`, `1024Mi` is `1Gi`. Upstream rounds up to thousandths in resource lists, and so do we. */

export class QuantityError extends Error {}

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** The value in thousandths, and the family of its suffix, which canonical form keeps. */
export function parseQuantity(text: string): { milli: bigint; format: 'binary' | 'decimal' | 'exponent' } {
  const found = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)|[a-zA-Z]*)$/.exec(text);
  if (!found || (found[2] === '' && (found[3] ?? '') === '')) {
    throw new QuantityError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const [, sign, whole = '', fraction = '', suffix = ''] = found;
  const power = binary.indexOf(suffix);
  let numerator = BigInt(`${whole}${fraction}` || '0') * 1000n;
  let exponent = -fraction.length;
  let format: 'binary' | 'decimal' | 'exponent' = 'decimal';
  if (power > 0) {
    numerator *= 1024n ** BigInt(power);
    format = 'binary';
  } else if (/^[eE][+-]?\d+$/.test(suffix)) {
    exponent += Number(suffix.slice(1));
    format = 'exponent';
  } else {
    const scale = decimal[suffix];
    if (scale === undefined) throw new QuantityError("unable to parse quantity's suffix");
    exponent += scale;
  }
  let milli = numerator;
  if (exponent >= 0) milli *= 10n ** BigInt(exponent);
  else {
    const divisor = 10n ** BigInt(-exponent);
    milli = (numerator + divisor - 1n) / divisor;
  }
  return { milli: sign === '-' ? -milli : milli, format };
}

export function canonical(text: string): string {
  const { milli, format } = parseQuantity(text);
  if (milli === 0n) return '0';
  const sign = milli < 0n ? '-' : '';
  const size = milli < 0n ? -milli : milli;
  if (format === 'binary' && size % 1000n === 0n && size >= 1_024_000n) {
    let value = size / 1000n;
    let power = 0;
    while (value % 1024n === 0n && power < 6) {
      value /= 1024n;
      power++;
    }
    return `${sign}${value}${binary[power]}`;
  }
  if (format === 'binary' && size % 1000n === 0n) return `${sign}${size / 1000n}`;
  let value = size;
  let exponent = -3;
  while (value % 1000n === 0n && exponent < 18) {
    value /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return `${sign}${value}${exponent === 0 ? '' : `e${exponent}`}`;
  return `${sign}${value}${Object.keys(decimal).find(s => decimal[s] === exponent)}`;
}
