import { type DestinationStream, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import type { Fields, Log } from '../world/log.ts';
import { maskFields } from '../world/mask/fields.ts';
import { maskShapes } from '../world/mask/shapes.ts';

type Mask = (text: string) => string;
export type Level = 'debug' | 'info' | 'warn' | 'error';

/** JSON lines on stdout (or `to`). Everything passes `mask`: a secret that reaches a log is a leak for good. */
export function createLog(level: Level = 'info', to?: DestinationStream, mask: Mask = maskShapes): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    messageKey: 'msg',
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
  };
  return wrap(to ? pino(options, to) : pino(options), mask);
}

function wrap(logger: Logger, mask: Mask): Log {
  const write =
    (level: Level) =>
    (text: string, fields: Fields = {}): void => {
      // Masking costs microseconds per field; a line that is not written must not.
      if (logger.isLevelEnabled(level)) logger[level](maskFields(fields, mask), mask(text));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: fields => wrap(logger.child(maskFields(fields, mask) as Record<string, unknown>), mask),
  };
}
