#!/bin/sh
# The adapter on standard input and output, as the client starts it.
exec "$WAVELIFT_PROGRAM" debug --dap
