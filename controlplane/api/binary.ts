import * as z from "zod";
import { describedSchemas } from "./described-schemas.ts";

/** A body that is bytes. Nothing is checked here: whoever reads it does. */
export const binary = z.unknown().register(describedSchemas, { type: "string", format: "binary" });
