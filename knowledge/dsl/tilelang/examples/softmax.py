# torch.softmax(x, dim=1): a block has a whole row in a fragment and reads it once. Fragments are shared out evenly over the threads, so the row is
# filled up to a multiple of them with values that add nothing.
import tilelang
import tilelang.language as T

# kw:knob THREADS 64 128 256
THREADS = 128


@tilelang.jit
def softmax(rows, columns, threads):
    width = (columns + threads - 1) // threads * threads

    @T.prim_func
    def main(x: T.Tensor((rows, columns), "float32"), out: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows, threads=threads) as row:
            value = T.alloc_fragment((1, width), "float32")
            top = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            for i, j in T.Parallel(1, width):
                value[i, j] = T.if_then_else(j < columns, x[row, j], -T.infinity("float32"))
            T.reduce_max(value, top, dim=1, clear=True)
            for i, j in T.Parallel(1, width):
                value[i, j] = T.exp(value[i, j] - top[i])
            T.reduce_sum(value, total, dim=1)
            for i, j in T.Parallel(1, width):
                if j < columns:
                    out[row, j] = value[i, j] / total[i]

    return main


def launch(x, out):
    softmax(x.shape[0], x.shape[1], THREADS)(x, out)
