"""The inside of the sandbox for candidates in KernelBench's form: loads a file with ModelNew, calls it when the evaluator asks, says how long it
took and where its outputs are. Never sees a reference and never judges. Once the candidate is loaded, whatever this process says is checked from
outside."""
