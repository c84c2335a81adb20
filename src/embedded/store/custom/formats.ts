import { isIPv4, isIPv6 } from 'node:net';

/** String formats that the API server enforces, of those our kinds use; an unknown format holds for everything. */
const tests: Record<string, (text: string) => boolean> = {
  'date-time': text =>
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(Date.parse(text)),
  datetime: text => tests['date-time']!(text),
  date: text => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: text =>
    /^([+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+$/.test(text) ||
    text === '0' ||
    /^\d+\s*(ns|us|ms|s|m|h|d|w|seconds?|minutes?|hours?|days?|weeks?)$/.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: text => {
    const [address = '', bits = ''] = text.split('/');
    return /^\d+$/.test(bits) && ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128));
  },
  mac: text =>
    /^([0-9a-fA-F]{2}([:-])([0-9a-fA-F]{2}\2){4}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4})$/.test(text),
  uuid: text => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uri: text => /^([a-zA-Z][a-zA-Z0-9+.-]*:|\/)/.test(text) && !/\s/.test(text),
  hostname: text => text.length <= 255 && /^([a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?\.?)+$/.test(text),
  email: text => /^[^@\s]+@[^@\s]+$/.test(text),
  byte: text => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0,
  'k8s-short-name': text => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text),
  'k8s-long-name': text =>
    text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
};

export const formatHolds = (format: string, text: string): boolean => tests[format]?.(text) ?? true;
