/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes of the runtime and of the device, as values of aclError. 107xxx: the caller's mistake; 207xxx: a
 * resource is exhausted or a feature is missing; 507xxx: the runtime or the device failed. Plain macros, usable
 * from C and C++.
 */
#ifndef CANOPY_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H
#define CANOPY_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H

/** The call did what it was asked to do. */
#define ACL_RT_SUCCESS 0

/* ------------------------------------------------------------------------------------------------------------
 * The caller's mistake (107xxx)
 * ------------------------------------------------------------------------------------------------------------ */

#define ACL_ERROR_RT_PARAM_INVALID 107000            /**< an argument is out of range */
#define ACL_ERROR_RT_INVALID_DEVICEID 107001         /**< no device has this number */
#define ACL_ERROR_RT_CONTEXT_NULL 107002             /**< the thread has no current context */
#define ACL_ERROR_RT_STREAM_CONTEXT 107003           /**< the stream is of another context */
#define ACL_ERROR_RT_MODEL_CONTEXT 107004            /**< the model is of another context */
#define ACL_ERROR_RT_STREAM_MODEL 107005             /**< stream and model do not belong together */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID 107006  /**< the event carries no time yet */
#define ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL 107007 /**< the end lies before the start */
#define ACL_ERROR_RT_ADDR_UNALIGNED 107008           /**< an address is not aligned as required */
#define ACL_ERROR_RT_FILE_OPEN 107009                /**< a file cannot be opened */
#define ACL_ERROR_RT_FILE_WRITE 107010               /**< a file cannot be written */
#define ACL_ERROR_RT_STREAM_SUBSCRIBE 107011         /**< the stream is subscribed otherwise */
#define ACL_ERROR_RT_THREAD_SUBSCRIBE 107012         /**< the thread serves no stream */
#define ACL_ERROR_RT_GROUP_NOT_SET 107013            /**< no group is selected */
#define ACL_ERROR_RT_GROUP_NOT_CREATE 107014         /**< the group does not exist */
#define ACL_ERROR_RT_STREAM_NO_CB_REG 107015         /**< no thread serves the stream's callbacks */
#define ACL_ERROR_RT_INVALID_MEMORY_TYPE 107016      /**< unknown kind of memory */
#define ACL_ERROR_RT_INVALID_HANDLE 107017           /**< stale, foreign or invented handle */
#define ACL_ERROR_RT_INVALID_MALLOC_TYPE 107018      /**< unknown kind of allocation */
#define ACL_ERROR_RT_WAIT_TIMEOUT 107019             /**< a wait took too long */
#define ACL_ERROR_RT_TASK_TIMEOUT 107020             /**< a task took too long */
#define ACL_ERROR_RT_SYSPARAMOPT_NOT_SET 107021      /**< the option has no value yet */
#define ACL_ERROR_RT_DEVICE_TASK_ABORT 107022        /**< the device's tasks were aborted */
#define ACL_ERROR_RT_STREAM_ABORT 107023             /**< the stream was aborted */

#define ACL_ERROR_RT_CAPTURE_DEPENDENCY 107024          /**< a captured wait has no captured record */
#define ACL_ERROR_RT_STREAM_UNJOINED 107025             /**< a forked stream never came back */
#define ACL_ERROR_RT_MODEL_CAPTURED 107026              /**< the model is still being captured */
#define ACL_ERROR_RT_STREAM_CAPTURED 107027             /**< not allowed on a capturing stream */
#define ACL_ERROR_RT_EVENT_CAPTURED 107028              /**< not allowed on a captured event */
#define ACL_ERROR_RT_STREAM_NOT_CAPTURED 107029         /**< the stream is not capturing */
#define ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT 107030    /**< the capture mode forbids this call */
#define ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT 107031     /**< the default stream cannot be captured */
#define ACL_ERROR_STREAM_CAPTURE_CONFLICT 107032        /**< an event joins two captures */
#define ACL_ERROR_STREAM_TASK_GROUP_STATUS 107033       /**< task-group call out of order */
#define ACL_ERROR_STREAM_TASK_GROUP_INTR 107034         /**< the task group was interrupted */
#define ACL_ERROR_RT_TASK_ABORT_STOP 107035             /**< the abort stopped before its end */
#define ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED 107036    /**< the capture began on another stream */
#define ACL_ERROR_RT_MODEL_RUNNING 107037               /**< the model is still running */
#define ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD 107038 /**< the capture began in another thread */
#define ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY 107039    /**< the caller's array is too short */
#define ACL_ERROR_RT_MODEL_UPDATE_FAILED 107040         /**< the model cannot take the update */
#define ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC 107041    /**< the copy would block a capture */
#define ACL_ERROR_RT_SYMBOL_NOT_FOUND 107042            /**< the binary has no such variable */
#define ACL_ERROR_RT_INVALID_SYMBOL 107043              /**< not the shadow of a device variable */
#define ACL_ERROR_RT_INVALID_DEVICE_FUNCTION 107044     /**< not the shadow of a kernel */
#define ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING 107045   /**< a conditional body is unfinished */

/* ------------------------------------------------------------------------------------------------------------
 * Exhausted or missing (207xxx)
 * ------------------------------------------------------------------------------------------------------------ */

#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT 207000           /**< this device or build lacks the feature */
#define ACL_ERROR_RT_MEMORY_ALLOCATION 207001             /**< out of memory */
#define ACL_ERROR_RT_MEMORY_FREE 207002                   /**< memory cannot be released */
#define ACL_ERROR_RT_AICORE_OVER_FLOW 207003              /**< a cube computation overflowed */
#define ACL_ERROR_RT_NO_DEVICE 207004                     /**< there is no device */
#define ACL_ERROR_RT_RESOURCE_ALLOC_FAIL 207005           /**< a device resource cannot be had */
#define ACL_ERROR_RT_NO_PERMISSION 207006                 /**< the process may not do this */
#define ACL_ERROR_RT_NO_EVENT_RESOURCE 207007             /**< all events are in use */
#define ACL_ERROR_RT_NO_STREAM_RESOURCE 207008            /**< all streams are in use */
#define ACL_ERROR_RT_NO_NOTIFY_RESOURCE 207009            /**< all notifies are in use */
#define ACL_ERROR_RT_NO_MODEL_RESOURCE 207010             /**< all models are in use */
#define ACL_ERROR_RT_NO_CDQ_RESOURCE 207011               /**< all descriptor queues are in use */
#define ACL_ERROR_RT_OVER_LIMIT 207012                    /**< a count limit is reached */
#define ACL_ERROR_RT_QUEUE_EMPTY 207013                   /**< nothing to take out */
#define ACL_ERROR_RT_QUEUE_FULL 207014                    /**< no room to put in */
#define ACL_ERROR_RT_REPEATED_INIT 207015                 /**< already initialised */
#define ACL_ERROR_RT_AIVEC_OVER_FLOW 207016               /**< a vector computation overflowed */
#define ACL_ERROR_RT_OVER_FLOW 207017                     /**< a computation overflowed */
#define ACL_ERROR_RT_DEVICE_OOM 207018                    /**< the device ran out of memory */
#define ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP 207019 /**< this task cannot be updated */
#define ACL_ERROR_RT_TIMEOUT 207020                       /**< the operation took too long */
#define ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED 207021       /**< no link of this type */

/* ------------------------------------------------------------------------------------------------------------
 * Failures of the runtime or the device (507xxx)
 * ------------------------------------------------------------------------------------------------------------ */

#define ACL_ERROR_RT_INTERNAL_ERROR 507000         /**< a defect or an unforeseen state */
#define ACL_ERROR_RT_TS_ERROR 507001               /**< the task scheduler failed */
#define ACL_ERROR_RT_STREAM_TASK_FULL 507002       /**< the stream takes no more tasks now */
#define ACL_ERROR_RT_STREAM_TASK_EMPTY 507003      /**< the stream has no task */
#define ACL_ERROR_RT_STREAM_NOT_COMPLETE 507004    /**< the stream still has work */
#define ACL_ERROR_RT_END_OF_SEQUENCE 507005        /**< the input is at its end */
#define ACL_ERROR_RT_EVENT_NOT_COMPLETE 507006     /**< the event has not happened yet */
#define ACL_ERROR_RT_CONTEXT_RELEASE_ERROR 507007  /**< device never set or already reset */
#define ACL_ERROR_RT_SOC_VERSION 507008            /**< the chip is unknown or differs */
#define ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT 507009  /**< the device knows no such task */
#define ACL_ERROR_RT_LOST_HEARTBEAT 507010         /**< the device no longer answers */
#define ACL_ERROR_RT_MODEL_EXECUTE 507011          /**< a task inside a model failed */
#define ACL_ERROR_RT_REPORT_TIMEOUT 507012         /**< no callback arrived in time */
#define ACL_ERROR_RT_SYS_DMA 507013                /**< a copy engine failed */
#define ACL_ERROR_RT_AICORE_TIMEOUT 507014         /**< a cube or mixed kernel took too long */
#define ACL_ERROR_RT_AICORE_EXCEPTION 507015       /**< a cube or mixed kernel failed */
#define ACL_ERROR_RT_AICORE_TRAP_EXCEPTION 507016  /**< a cube or mixed kernel trapped */
#define ACL_ERROR_RT_AICPU_TIMEOUT 507017          /**< a CPU kernel took too long */
#define ACL_ERROR_RT_AICPU_EXCEPTION 507018        /**< a CPU kernel failed */
#define ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR 507019 /**< the CPU's dump answer is wrong */
#define ACL_ERROR_RT_AICPU_MODEL_RSP_ERR 507020    /**< the CPU's model answer is wrong */
#define ACL_ERROR_RT_PROFILING_ERROR 507021        /**< profiling failed */
#define ACL_ERROR_RT_IPC_ERROR 507022              /**< sharing between processes failed */
#define ACL_ERROR_RT_MODEL_ABORT_NORMAL 507023     /**< the model was ended on request */
#define ACL_ERROR_RT_KERNEL_UNREGISTERING 507024   /**< the kernel is being unloaded */
#define ACL_ERROR_RT_RINGBUFFER_NOT_INIT 507025    /**< the report ring is not set up */
#define ACL_ERROR_RT_RINGBUFFER_NO_DATA 507026     /**< the report ring is empty */
#define ACL_ERROR_RT_KERNEL_LOOKUP 507027          /**< no such kernel */
#define ACL_ERROR_RT_KERNEL_DUPLICATE 507028       /**< the kernel is already registered */
#define ACL_ERROR_RT_DEBUG_REGISTER_FAIL 507029    /**< the debugger cannot attach */
#define ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL 507030  /**< the debugger cannot detach */
#define ACL_ERROR_RT_LABEL_CONTEXT 507031          /**< the label is of another context */
#define ACL_ERROR_RT_PROGRAM_USE_OUT 507032        /**< all program slots are in use */
#define ACL_ERROR_RT_DEV_SETUP_ERROR 507033        /**< the device cannot be set up */

#define ACL_ERROR_RT_VECTOR_CORE_TIMEOUT 507034             /**< a vector kernel took too long */
#define ACL_ERROR_RT_VECTOR_CORE_EXCEPTION 507035           /**< a vector kernel failed */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION 507036      /**< a vector kernel trapped */
#define ACL_ERROR_RT_CDQ_BATCH_ABNORMAL 507037              /**< a descriptor batch failed */
#define ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR 507038           /**< the die mode cannot change */
#define ACL_ERROR_RT_DIE_SET_ERROR 507039                   /**< the die cannot be selected */
#define ACL_ERROR_RT_INVALID_DIEID 507040                   /**< no die has this number */
#define ACL_ERROR_RT_DIE_MODE_NOT_SET 507041                /**< no die mode is set */
#define ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW 507042       /**< read past the end on a cube core */
#define ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW 507043      /**< write past the end on a cube core */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW 507044  /**< read past the end on a vector core */
#define ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW 507045 /**< write past the end on a vector core */
#define ACL_ERROR_RT_STREAM_SYNC_TIMEOUT 507046             /**< the stream did not finish in time */
#define ACL_ERROR_RT_EVENT_SYNC_TIMEOUT 507047              /**< the event did not happen in time */
#define ACL_ERROR_RT_FFTS_PLUS_TIMEOUT 507048               /**< a task graph took too long */
#define ACL_ERROR_RT_FFTS_PLUS_EXCEPTION 507049             /**< a task graph failed */
#define ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION 507050        /**< a task graph trapped */
#define ACL_ERROR_RT_SEND_MSG 507051                        /**< a message cannot be sent */
#define ACL_ERROR_RT_COPY_DATA 507052                       /**< a copy failed */
#define ACL_ERROR_RT_DEVICE_MEM_ERROR 507053                /**< device memory is defective */
#define ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR 507054         /**< memory lost several bits */
#define ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR 507055        /**< device memory may be defective */
#define ACL_ERROR_RT_LINK_ERROR 507056                      /**< a link between devices failed */
#define ACL_ERROR_RT_SUSPECT_REMOTE_ERROR 507057            /**< another device may have failed */

#define ACL_ERROR_RT_DRV_INTERNAL_ERROR 507899             /**< the device layer failed */
#define ACL_ERROR_RT_AICPU_INTERNAL_ERROR 507900           /**< the CPU-kernel layer failed */
#define ACL_ERROR_RT_SOCKET_CLOSE 507901                   /**< the connection was closed */
#define ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR 507902        /**< the CPU cannot load an operator */
#define ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED 507903     /**< an earlier call invalidated the capture */
#define ACL_ERROR_RT_COMM_OP_RETRY_FAIL 507904             /**< a collective cannot be repeated */
#define ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT 507905             /**< the process was not locked in time */
#define ACL_ERROR_SNAPSHOT_LOCK_FAILED 507906              /**< the process cannot be locked */
#define ACL_ERROR_SNAPSHOT_UNLOCK_FAILED 507907            /**< the process cannot be unlocked */
#define ACL_ERROR_SNAPSHOT_BACKUP_FAILED 507908            /**< the state cannot be saved */
#define ACL_ERROR_SNAPSHOT_RESTORE_FAILED 507909           /**< the state cannot be restored */
#define ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED 507910    /**< the range is registered already */
#define ACL_ERROR_HOST_MEMORY_NOT_REGISTERED 507911        /**< the range is not registered */
#define ACL_ERROR_SNAPSHOT_CALLBACK_FAILED 507912          /**< a snapshot callback failed */
#define ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED 507913 /**< the callback cannot be registered */
#define ACL_ERROR_RT_L3_PORT_ERROR 507914                  /**< a network port failed */
#define ACL_ERROR_RT_CCU_TIMEOUT 507915                    /**< a collective unit took too long */
#define ACL_ERROR_RT_CCU_EXCEPTION 507916                  /**< a collective unit failed */

#endif /* CANOPY_INCLUDE_ACL_ERROR_CODES_RT_ERROR_CODES_H */
